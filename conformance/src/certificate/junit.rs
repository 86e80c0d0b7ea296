//! A certificate as JUnit XML, which CI servers read.

use std::io;

use quick_xml::Writer;
use quick_xml::events::BytesText;

use super::{Certificate, End, Entry};

impl Certificate {
    /// Returns each case as a test case of JUnit's XML format.
    ///
    /// # Errors
    ///
    /// Returns an error if a text cannot be written as XML.
    pub fn to_junit(&self) -> io::Result<String> {
        let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
        let count =
            |counts: fn(&End) -> bool| self.entries.iter().filter(|entry| counts(&entry.end)).count().to_string();
        let (all, failed) = (self.entries.len().to_string(), count(|end| matches!(end, End::Failed(_))));
        let undecided = count(|end| matches!(end, End::Undecided(_)));
        let skipped = count(|end| matches!(end, End::Ignored(_) | End::NotRun));
        let suite = [
            ("name", self.name.as_str()),
            ("tests", &all),
            ("failures", &failed),
            ("errors", &undecided),
            ("skipped", &skipped),
        ];
        writer
            .create_element("testsuite")
            .with_attributes(suite)
            .write_inner_content(|writer| self.entries.iter().try_for_each(|entry| case(writer, entry)))?;
        String::from_utf8(writer.into_inner()).map_err(io::Error::other)
    }
}

fn case(writer: &mut Writer<Vec<u8>>, entry: &Entry) -> io::Result<()> {
    let (name, time) = (entry.case.name(), format!("{:.3}", entry.took.as_secs_f64()));
    let (classname, name) = name.rsplit_once("::").unwrap_or(("", name.as_str()));
    let attributes = [("classname", classname), ("name", name), ("time", &time)];
    let element = writer.create_element("testcase").with_attributes(attributes);
    match &entry.end {
        End::Held => element.write_empty().map(drop),
        End::Failed(why) => element.write_inner_content(|writer| inner(writer, "failure", why)).map(drop),
        End::Undecided(why) => element.write_inner_content(|writer| inner(writer, "error", why)).map(drop),
        End::Ignored(why) => element.write_inner_content(|writer| inner(writer, "skipped", why)).map(drop),
        End::NotRun => element.write_inner_content(|writer| inner(writer, "skipped", "not run")).map(drop),
    }
}

fn inner(writer: &mut Writer<Vec<u8>>, name: &str, why: &str) -> io::Result<()> {
    let first = why.lines().next().unwrap_or_default();
    writer.create_element(name).with_attribute(("message", first)).write_text_content(BytesText::new(why)).map(drop)
}
