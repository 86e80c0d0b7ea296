use std::collections::VecDeque;

use super::*;

/// A reader that returns a few bytes at a time, so that chunks end anywhere in a record.
struct Trickle(VecDeque<u8>, usize);

impl Read for Trickle {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.1.min(buffer.len());
        self.0.read(&mut buffer[..len])
    }
}

fn trickle(bytes: &[u8], step: usize) -> Box<dyn Read + Send> {
    Box::new(Trickle(bytes.to_vec().into(), step))
}

/// A reader that fails once, after the first bytes.
struct Broken(&'static [u8]);

impl Read for Broken {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0 {
            [] => Err(io::ErrorKind::ConnectionReset.into()),
            mut bytes => {
                self.0 = &[];
                bytes.read(buffer)
            }
        }
    }
}

async fn all(bytes: &[u8], step: usize) -> Vec<Record> {
    let mut records = Records::new(trickle(bytes, step));
    let mut all = Vec::new();
    while let Some(record) = records.next_record().await.unwrap() {
        all.push(record);
    }
    all
}

async fn lines_and_texts(bytes: &[u8]) -> Vec<(u64, Result<String, Unreadable>)> {
    let text = |first: Vec<u8>| String::from_utf8(first).unwrap();
    let records = all(bytes, CHUNK_BYTES).await.into_iter();
    records.map(|record| (record.line, record.first.map(text))).collect()
}

#[tokio::test]
async fn blank_lines_are_counted_as_records() {
    let expected = [(1, ""), (2, "a"), (3, ""), (4, "b")].map(|(line, text)| (line, Ok(text.to_owned())));
    assert_eq!(lines_and_texts(b"\na\r\n\r\nb").await, expected);
}

#[tokio::test]
async fn line_numbers_include_the_lines_within_a_record() {
    let expected = [(1, "a\n\nb"), (4, "c")].map(|(line, text)| (line, Ok(text.to_owned())));
    assert_eq!(lines_and_texts(b"\"a\n\nb\"\nc\n").await, expected);
}

#[tokio::test]
async fn an_open_quote_rejects_only_its_own_line() {
    let open = Err(Unreadable::Malformed(Fault::OpenQuote));
    let expected = [(1, Ok("a".to_owned())), (2, open), (3, Ok("b".to_owned())), (4, Ok("c".to_owned()))];
    assert_eq!(lines_and_texts(b"a\n\"open\nb\nc\n").await, expected);
}

/// The rest of the line is unknown, so its beginning must not become an id.
#[tokio::test]
async fn half_a_line_before_a_failed_read_is_no_record() {
    let mut records = Records::new(Box::new(Broken(b"ada\nbob@exam")));
    assert_eq!(records.next_record().await.unwrap().unwrap().first, Ok(b"ada".to_vec()));
    for _ in 0..3 {
        records.next_record().await.unwrap_err();
    }
}

/// No part of a malformed line may become an id or an item.
#[tokio::test]
async fn a_malformed_line_is_rejected_wherever_a_chunk_ends() {
    let record = |line, ends_at, first| Record { line, ends_at, first, quoted: false, alone: true };
    let malformed = |line, ends_at, fault| record(line, ends_at, Err(Unreadable::Malformed(fault)));
    let last = record(3, 17, Ok(b"c".to_vec()));
    let expected = [malformed(1, 9, Fault::TextAfterQuote), malformed(2, 15, Fault::OpenQuote), last];
    for step in 1..20 {
        assert_eq!(all(b"\"a\" text\n\"open\nc\n", step).await, expected, "{step} bytes at a time");
    }
}

#[tokio::test]
async fn a_byte_order_mark_is_removed_from_the_first_record() {
    for step in 1..5 {
        let records = all(b"\xEF\xBB\xBF\"a\"\nb\n", step).await;
        assert_eq!(records[0].first, Ok(b"a".to_vec()));
        assert_eq!(records[1].ends_at, 9);
    }
}

/// Files that `cat` joined may have byte order marks between them. An id with a mark would be a second id of one
/// person.
#[tokio::test]
async fn a_byte_order_mark_between_joined_files_is_removed() {
    for step in 1..9 {
        let records = all(b"\xEF\xBB\xBF\xEF\xBB\xBFa\n\xEF\xBB\xBF\"a\"\n\xEF\xBB\xBF", step).await;
        let found: Vec<_> = records.into_iter().map(|record| (record.line, record.first, record.quoted)).collect();
        assert_eq!(found, [(1, Ok(b"a".to_vec()), false), (2, Ok(b"a".to_vec()), true)], "{step} bytes at a time");
    }
}

#[tokio::test]
async fn a_record_says_whether_it_is_one_field_and_whether_it_is_quoted() {
    let records = all(b"a\n\"a\"\na,b\n\n,\n", CHUNK_BYTES).await;
    let found: Vec<_> = records.into_iter().map(|record| (record.alone, record.quoted)).collect();
    assert_eq!(found, [(true, false), (true, true), (false, false), (true, false), (false, false)]);
}

#[tokio::test]
async fn a_file_with_only_carriage_returns_as_line_ends_is_malformed() {
    let records = all(&b"a-code\r".repeat(MAX_RECORD_BYTES / 4), CHUNK_BYTES).await;
    assert_eq!(records.len(), 1);
    assert_eq!(records[0].first, Err(Unreadable::Malformed(Fault::Return)));
}

#[tokio::test]
async fn a_too_long_line_is_skipped_and_not_kept_in_memory() {
    let mut bytes = vec![b'x'; 3 * MAX_RECORD_BYTES];
    bytes.extend_from_slice(b"\nafter\n");
    let mut records = Records::new(trickle(&bytes, CHUNK_BYTES));
    let long = records.next_record().await.unwrap().unwrap();
    assert_eq!((long.line, long.first), (1, Err(Unreadable::LongLine)));
    assert!(records.buffer.capacity() < 2 * MAX_RECORD_BYTES + 2 * CHUNK_BYTES);
    let after = records.next_record().await.unwrap().unwrap();
    assert_eq!((after.line, after.first), (2, Ok(b"after".to_vec())));
    assert_eq!(records.next_record().await.unwrap(), None);
}

#[tokio::test]
async fn a_long_line_at_the_end_of_the_file_is_one_record() {
    let bytes = vec![b'x'; MAX_RECORD_BYTES + 7];
    let records = all(&bytes, CHUNK_BYTES).await;
    assert_eq!(records.len(), 1);
    assert_eq!(records[0].first, Err(Unreadable::LongLine));
    assert_eq!(records[0].ends_at, bytes.len() as u64);
}

#[tokio::test]
async fn a_quote_open_for_too_long_rejects_only_its_own_line() {
    let mut bytes = b"\"open\n".to_vec();
    bytes.extend(b"line\n".repeat(MAX_RECORD_BYTES / 4));
    let records = all(&bytes, CHUNK_BYTES).await;
    assert_eq!(records[0].first, Err(Unreadable::Malformed(Fault::OpenQuote)));
    assert_eq!(records.len(), 1 + MAX_RECORD_BYTES / 4);
    assert!(records[1..].iter().all(|record| record.first == Ok(b"line".to_vec())));
}

/// Rows that the csv crate has written are read back with the right line numbers, in chunks of any size.
#[tokio::test]
async fn fuzz_rows_of_the_csv_crate_are_read_back() {
    let seed = std::env::var("STORAGEBOX_TEST_SEED").map_or_else(|_| fastrand::u64(..), |seed| seed.parse().unwrap());
    println!("STORAGEBOX_TEST_SEED={seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    for _ in 0..500 {
        let rows = random_rows(&mut random);
        let written = written(&rows, &mut random);
        let read = all(&written, random.usize(1..20)).await;
        assert_eq!(read.len(), rows.len());
        let mut line = 1;
        for (record, row) in read.iter().zip(&rows) {
            assert_eq!(record.first.as_deref(), Ok(row[0].as_bytes()));
            assert_eq!(record.line, line);
            line += 1 + row.iter().map(|field| field.matches('\n').count() as u64).sum::<u64>();
        }
    }
}

fn random_rows(random: &mut fastrand::Rng) -> Vec<Vec<String>> {
    let alphabet = ['a', 'é', '"', '"', ',', '\n', '\r', ' ', '\''];
    let columns = random.usize(1..4);
    let mut field = || (0..random.usize(0..6)).map(|_| alphabet[random.usize(..alphabet.len())]).collect();
    (0..10).map(|_| (0..columns).map(|_| field()).collect()).collect()
}

fn written(rows: &[Vec<String>], random: &mut fastrand::Rng) -> Vec<u8> {
    let terminator = if random.bool() { csv::Terminator::CRLF } else { csv::Terminator::Any(b'\n') };
    let mut writer = csv::WriterBuilder::new().terminator(terminator).from_writer(Vec::new());
    for row in rows {
        writer.write_record(row).unwrap();
    }
    writer.into_inner().unwrap()
}

/// The size of the chunks does not change the records of a file, and no byte is skipped.
#[test]
fn fuzz_the_chunk_size_does_not_change_the_records() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let known =
        ["a\n\"b\nb\"\r\nc,\"d\"\n", "\u{feff}\"a\"\"a\",b\n\n\"open\nc\n", "\"a\" text\n\"\"\n", "\"a\nb\" text\nc"];
    storagebox_fuzz::bytes(&known, |bytes| {
        let whole = runtime.block_on(all(bytes, CHUNK_BYTES));
        for step in [1, 2, 7] {
            assert_eq!(runtime.block_on(all(bytes, step)), whole, "{step} bytes at a time");
        }
        let mut used = bytes;
        if whole.last().is_none_or(|last| last.ends_at < bytes.len() as u64) {
            while let Some(rest) = used.strip_suffix(BYTE_ORDER_MARK) {
                used = rest;
            }
        }
        let ends_at = whole.last().map_or(0, |last| last.ends_at);
        assert!((used.len() as u64..=bytes.len() as u64).contains(&ends_at), "{ends_at}");
        assert!(whole.windows(2).all(|pair| pair[0].line < pair[1].line && pair[0].ends_at < pair[1].ends_at));
    });
}
