use storagebox::ErrorKind;
use storagebox_conformance::{Judgement, Options, Part, Profile, Stop, certify};

use super::*;

fn process() -> Arc<dyn TestTarget> {
    Arc::new(memory::Process)
}

/// Runs a few cases of the suite, and returns their certificate.
async fn certified_by(target: &Arc<dyn TestTarget>) -> Certificate {
    let options = Options::new(Profile::SMOKE).parts([Part::Ordered]);
    let harness = Cases::of(target);
    let run = spawn_blocking(move || certify(harness, options, |_, _| {}));
    run.await.unwrap().unwrap()
}

fn level_of_ordered(certificate: &Certificate) -> Option<u8> {
    let parts = certificate.parts();
    parts.iter().find(|(part, _)| *part == Part::Ordered).and_then(|(_, judgement)| judgement.level())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_of_one_part_certifies_only_that_part() {
    let certificate = certified_by(&process()).await;
    assert_eq!(level_of_ordered(&certificate), Some(3));
    assert!(matches!(certificate.judgement(), Judgement::Open { .. }), "{}", certificate.to_text());
    assert_eq!(reports::exit(&certificate).unwrap(), Exit::Nothing);
}

#[cfg(feature = "sqlite")]
#[tokio::test(flavor = "multi_thread")]
async fn a_removed_target_leaves_no_file() {
    let parent = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", parent.path().join("store.db").display());
    let target = target(&url).await.unwrap();
    assert_eq!(level_of_ordered(&certified_by(&target).await), Some(3));
    target.remove().await.unwrap();
    drop(target);
    assert_eq!(std::fs::read_dir(parent.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn a_url_that_names_no_single_server_is_refused() {
    for url in ["nonsense:", "redis+cluster://127.0.0.1:1", "dynamodb+articles://region/items/records"] {
        let refused = target(url).await.map(drop).unwrap_err();
        assert!(matches!(refused.kind(), ErrorKind::Misconfigured | ErrorKind::Unsupported), "{url}: {refused}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_run_has_no_verdict() {
    let harness = Cases::of(&process());
    let stop = Stop::new();
    let options = Options::new(Profile::SMOKE).threads(1).stop(&stop);
    let run = spawn_blocking(move || certify(harness, options, |_, _| stop.now()));
    let certificate = run.await.unwrap().unwrap();
    assert!(matches!(certificate.judgement(), Judgement::Open { ran: 1, .. }), "{}", certificate.to_text());
}
