use storagebox::ErrorKind;
use storagebox_conformance::{Judgement, Options, Part, Profile, Stop, certify};

use super::*;

/// What a few cases of a ground find, and what is left of it.
async fn certified_by(ground: &dyn TestTarget) -> Certificate {
    let options = Options::new(Profile::SMOKE).parts([Part::Ordered]);
    let harness = ground.harness();
    let run = spawn_blocking(move || certify(harness, options, |_, _| {}));
    run.await.unwrap().unwrap()
}

fn level_of_ordered(certificate: &Certificate) -> Option<u8> {
    let parts = certificate.parts();
    parts.iter().find(|(part, _)| *part == Part::Ordered).and_then(|(_, judgement)| judgement.level())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_part_is_certified_and_the_whole_is_not() {
    let certificate = certified_by(&memory::Process).await;
    assert_eq!(level_of_ordered(&certificate), Some(3));
    assert!(matches!(certificate.judgement(), Judgement::Open { .. }), "{}", certificate.to_text());
    assert_eq!(reports::exit(&certificate).unwrap(), Exit::Nothing);
}

#[cfg(feature = "sqlite")]
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_of_the_files() {
    let parent = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", parent.path().join("store.db").display());
    let ground = ground(&url).await.unwrap();
    assert_eq!(level_of_ordered(&certified_by(&*ground).await), Some(3));
    ground.remove().await.unwrap();
    drop(ground);
    assert_eq!(std::fs::read_dir(parent.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn what_is_no_server_is_refused_before_anything_is_asked() {
    for url in ["nonsense:", "redis+cluster://127.0.0.1:1", "dynamodb+articles://region/items/records"] {
        let refused = ground(url).await.map(drop).unwrap_err();
        assert!(matches!(refused.kind(), ErrorKind::Misconfigured | ErrorKind::Unsupported), "{url}: {refused}");
    }
}

/// One that ends at once leaves the rest as cases that were not run.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_stopped_has_no_verdict() {
    let harness = memory::Process.harness();
    let stop = Stop::new();
    let options = Options::new(Profile::SMOKE).threads(1).stop(&stop);
    let run = spawn_blocking(move || certify(harness, options, |_, _| stop.now()));
    let certificate = run.await.unwrap().unwrap();
    assert!(matches!(certificate.judgement(), Judgement::Open { ran: 1, .. }), "{}", certificate.to_text());
}
