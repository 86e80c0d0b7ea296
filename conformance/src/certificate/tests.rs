use super::*;
use crate::part::Family;
use crate::world::Profile;

/// Returns the certificate of a run of the cases that `run` accepts. The case at the index `failed` fails.
fn certificate(declared: &Declared, run: impl Fn(usize) -> bool, failed: Option<usize>) -> Certificate {
    let mut certificate = Certificate::of("here".to_owned(), Options::new(Profile::QUICK), 7, declared);
    let asked: Vec<_> = certificate.entries.iter().enumerate().filter(|(_, entry)| entry.end == End::NotRun).collect();
    let asked: Vec<usize> = asked.into_iter().map(|(number, _)| number).collect();
    for (place, number) in asked.into_iter().enumerate().filter(|(place, _)| run(*place)) {
        let end = if Some(place) == failed { End::Failed("it <broke>\nhere".to_owned()) } else { End::Held };
        certificate.enter(number, end, Duration::from_secs(place as u64));
    }
    certificate
}

fn said(declared: &Declared, run: impl Fn(usize) -> bool, failed: Option<usize>) -> String {
    certificate(declared, run, failed).judgement().to_string()
}

#[test]
fn text_lists_the_slowest_cases_first_up_to_the_limit() {
    let mut certificate = certificate(&Declared::all().with_transactions(), |place| place < 3, None);
    certificate.options.slowest = 2;
    let names: Vec<_> = certificate.entries.iter().map(|entry| entry.case.name()).collect();
    let text = certificate.to_text();
    let slowest: Vec<_> = text.lines().filter(|line| line.contains(" s ")).collect();
    assert_eq!(slowest, [format!("here: 2.0 s {}", names[2]), format!("here: 1.0 s {}", names[1])]);
}

#[test]
fn judgement_names_the_highest_level_and_the_number_of_parts() {
    let all = Declared::all().with_transactions();
    assert_eq!(said(&all, |_| true, None), "conforms at L4 in all 13 parts");
    let partial = all.without(Part::Ordered, "not yet").without(Part::Strategies, "some");
    assert_eq!(said(&partial, |_| true, None), "conforms at L4 in 11 of 13 parts, without strategies, ordered");
}

/// Cases above the level that the backend reaches are not missing.
#[test]
fn judgement_and_badge_name_what_the_harness_lacks() {
    let all = Declared::all().with_transactions();
    let calm = all.without_restart("no server").without_network("no server").without_processes("in memory");
    let told = "conforms at L3 in all 13 parts, without a network, other processes";
    assert_eq!(said(&calm, |_| true, None), told);
    let badge = certificate(&calm, |_| true, None).to_badge().unwrap();
    assert!(badge.contains("conforms at L3 without a network, other processes"), "{badge}");
    assert!(badge.contains(r#""color": "green""#), "{badge}");
    let partial = calm.without(Part::Ordered, "not yet");
    let told = "conforms at L3 in 12 of 13 parts, without ordered, a network, other processes";
    assert_eq!(said(&partial, |_| true, None), told);
}

/// Only the cases of L4 kill a server or a process.
#[test]
fn store_without_restarts_or_processes_does_not_reach_l4() {
    let unkilled = Declared::all().with_transactions().without_restart("no server").without_processes("in memory");
    let certificate = certificate(&unkilled, |_| true, None);
    assert_eq!(certificate.judgement().level(), Some(3));
    assert!(certificate.parts().iter().all(|(_, judgement)| judgement.level() < Some(4)));
}

#[test]
fn clause_whose_failure_is_easiest_to_read_is_listed_first() {
    let mut certificate = certificate(&Declared::all().with_transactions(), |_| true, None);
    let breaks = |case: &Case| match case.clause() {
        "IB-1" => case.family() == Family::Concurrent,
        clause => clause == "IB-7",
    };
    for entry in certificate.entries.iter_mut().filter(|entry| breaks(&entry.case)) {
        entry.end = End::Failed("it broke".to_owned());
    }
    let text = certificate.to_text();
    let lines: Vec<_> = text.lines().filter(|line| line.contains(" is broken, ")).collect();
    assert!(
        lines[0].starts_with("here: IB-7 is broken, ") && lines[1].starts_with("here: IB-1 is broken, "),
        "{lines:?}"
    );
    assert_eq!(lines.len(), 2);
}

#[test]
fn reason_of_an_ignored_case_names_the_missing_part_or_condition() {
    let declared = Declared::all()
        .with_transactions()
        .without(Part::Ordered, "not yet")
        .without_network("a file")
        .without_processes("a file");
    let certificate = certificate(&declared, |_| true, None);
    let reasons: Vec<_> = certificate.ignored().into_iter().map(|(reason, _)| reason).collect();
    for reason in ["without ordered: not yet", "without a network: a file", "without other processes: a file"] {
        assert!(reasons.contains(&reason), "{reasons:?}");
    }
    assert_eq!(reasons.len(), 3);
}

#[test]
fn failed_or_partial_run_does_not_conform() {
    let all = Declared::all().with_transactions();
    let count = Selection::Everything.cases().len();
    assert_eq!(said(&all, |_| true, Some(7)), format!("does not conform: 1 of {count} cases failed"));
    assert_eq!(said(&all, |number| number < 3, Some(1)), "does not conform: 1 of 3 cases failed");
    assert_eq!(said(&all, |number| number < 3, None), format!("no verdict: 3 of {count} cases were run, and held"));
    assert_eq!(said(&all, |_| false, None), format!("no verdict: 0 of {count} cases were run, and held"));
}

/// A machine that is too slow proves nothing about a backend.
#[test]
fn undecided_case_leaves_no_verdict_and_is_named() {
    let mut certificate = certificate(&Declared::all().with_transactions(), |_| true, None);
    certificate.entries[0].end = End::Undecided("too busy".to_owned());
    let (count, name) = (certificate.entries.len(), certificate.entries[0].case.name());
    let judgement = format!("no verdict: {} of {count} cases were run, and held", count - 1);
    assert_eq!(certificate.judgement().to_string(), judgement);
    let text = certificate.to_text();
    assert!(text.contains(&format!("here: undecided, the machine was too slow: {name}\n")), "{text}");
    let json: serde_json::Value = serde_json::from_str(&certificate.to_json().unwrap()).unwrap();
    assert_eq!((&json["cases"][0]["end"], &json["cases"][0]["why"]), (&"undecided".into(), &"too busy".into()));
    let junit = certificate.to_junit().unwrap();
    assert!(junit.contains(r#"failures="0" errors="1""#) && junit.contains(r#"<error message="too busy">"#), "{junit}");
    certificate.entries[1].end = End::Failed("it broke".to_owned());
    let judgement = format!("does not conform: 1 of {} cases failed", count - 1);
    assert_eq!(certificate.judgement().to_string(), judgement);
}

#[test]
fn text_of_a_part_that_was_not_run_says_not_run() {
    let text = certificate(&Declared::all().with_transactions(), |place| place < 3, None).to_text();
    assert!(text.contains(" not run\n") && !text.contains("0 of 0"), "{text}");
}

#[test]
fn text_shows_a_verdict_per_part_and_the_missing_conditions() {
    let calm = Declared::all().with_transactions().without_restart("no server").without_processes("in memory");
    let calm = calm.without(Part::Ordered, "not yet");
    let certificate = certificate(&calm, |_| true, None);
    let parts = certificate.parts();
    assert!(parts.iter().all(|(part, judgement)| *part != Part::Ordered && judgement.level() >= Some(1)), "{parts:?}");
    let text = certificate.to_text();
    assert!(text.contains("here: item_bank    L3, "), "{text}");
    assert!(text.contains(", from L4 on: without restarts: no server\n"), "{text}");
    assert!(text.ends_with("here: conforms at L3 in 12 of 13 parts, without ordered, other processes\n"), "{text}");
}

#[test]
fn failed_case_is_shown_in_json_badge_and_junit() {
    let certificate = certificate(&Declared::all().with_transactions(), |place| place < 3, Some(1));
    let json: serde_json::Value = serde_json::from_str(&certificate.to_json().unwrap()).unwrap();
    assert_eq!(json["verdict"], "does not conform: 1 of 3 cases failed");
    assert_eq!((&json["cases"][0]["end"], &json["cases"][1]["end"]), (&"held".into(), &"failed".into()));
    assert!(certificate.to_badge().unwrap().contains(r#""color": "red""#));
    let junit = certificate.to_junit().unwrap();
    assert!(junit.contains(r#"failures="1""#) && junit.contains("message=\"it &lt;broke&gt;\""), "{junit}");
}
