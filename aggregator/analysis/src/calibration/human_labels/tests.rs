use super::*;
use crate::test_fixtures::{ACRUE, SEMANTIC, judged, rubric};
use juror_journal::journal::JournalError;
use proptest::prelude::*;

fn read(name: &str, text: &str) -> Result<HumanLabels, LabelError> {
    HumanLabels::read(name, text.as_bytes(), &rubric(SEMANTIC))
}

fn refused(name: &str, text: &str) -> String {
    read(name, text).unwrap_err().to_string()
}

#[test]
fn both_label_formats_are_equivalent() {
    let lines = "\u{feff}{\"id\":\"a\",\"rater\":\"anna\",\"visual_similarity\":9,\"comment\":\"-\"}\n\n\
                 {\"id\":\"a\",\"rater\":\"ben\",\"visual_similarity\":8.5,\"semantic_correctness\":0.8}\n\
                 {\"id\":\"b\",\"rater\":null,\"visual_similarity\":null}\n";
    let table = "id,rater,visual_similarity,semantic_correctness,comment\r\n\
                 a,anna,9,,-\r\na,ben, 8.5 ,0.8,\"two\nlines\"\r\nb,,,,\r\n";
    for labels in [read("l.jsonl", lines).unwrap(), read("l.CSV", table).unwrap()] {
        let of =
            |id| labels.ratings_of_item(id).iter().map(|rating| &rating[..2]).collect::<Vec<_>>();
        assert_eq!(of("a"), [&[None, Some(9.0)][..], &[Some(0.8), Some(8.5)]]);
        assert_eq!(of("b"), [&[None, None][..]]);
        assert_eq!((labels.raters(), labels.ratings()), (2, 3));
    }
}

#[test]
fn ratings_of_every_criterion_give_an_overall_rating() {
    let line = "{\"id\":\"a\",\"visual_similarity\":9,\"token_adherence\":8,\"variant_accuracy\":7,\
                \"feature_completeness\":6,\"layout_accuracy\":5}";
    assert_eq!(read("l.jsonl", line).unwrap().ratings_of_item("a")[0][0], Some(0.7));
    let percent = "id,percentage\na,70";
    let labels = HumanLabels::read("l.csv", percent.as_bytes(), &rubric(ACRUE)).unwrap();
    assert_eq!(labels.ratings_of_item("a")[0][0], Some(0.7));
}

#[test]
fn invalid_label_is_reported_with_line_and_field() {
    let good = "{\"id\":\"a\",\"visual_similarity\":9}\n";
    for (line, words) in [
        (
            "{\"id\":\"b\",\"visual_similarity\":11}",
            "line 2, field \"visual_similarity\": 11 is not on the scale of 0 to 10",
        ),
        (
            "{\"id\":\"b\",\"visual_similarity\":\"9\"}",
            "field \"visual_similarity\": expected a number, found \"9\"",
        ),
        (
            "{\"id\":\"b\",\"visual\":9}",
            "line 2, field \"visual\": unknown field; use id, rater, comment, semantic_correctness, visual_similarity,",
        ),
        ("{\"visual_similarity\":9}", "line 2, field \"id\": set the item's id"),
        ("{\"id\":7}", "line 2, field \"id\": set the item's id"),
        ("{\"id\":\"b\",\"rater\":7}", "line 2, field \"rater\": a name is expected"),
        ("[1]", "line 2: not a JSON object"),
        (
            "{\"id\":\"b\",\"visual_similarity\":9,\"visual_similarity\":1}",
            "line 2: the key \"visual_similarity\" occurs twice",
        ),
        ("{\"id\":\"a\"}", "line 2: item \"a\" was rated in line 1 already; name the rater"),
    ] {
        let output = refused("labels.jsonl", &format!("{good}{line}\n"));
        assert!(output.starts_with("labels.jsonl, line 2") && output.contains(words), "{output}");
    }
    for (text, words) in [
        (
            "id,visual_similarity\na,9\nb,good\n",
            "labels.csv, line 3, field \"visual_similarity\": expected a number, found good",
        ),
        (
            "id,visual_similarity\na,9\nb,NaN\n",
            "line 3, field \"visual_similarity\": NaN is not on the scale",
        ),
        (
            "id,rater,visual_similarity\na,x,9\na,x,8\n",
            "line 3: \"x\" rated item \"a\" in line 2 already",
        ),
        ("id,visual_similarity\na,9,1\n", "line 2: 3 cells, and the header row has 2"),
        ("id,looks\na,9\n", "line 1, field \"looks\": unknown field"),
        ("id,id\na,9\n", "line 1, field \"id\": there are two columns"),
        ("visual_similarity\n9\n", "line 1, field \"id\": set the item's id"),
        ("", "labels.csv: no line"),
        ("id,visual_similarity,comment\na,8,\"odd\nb,7,\nc,6,\n", "a quote is not closed"),
        ("id,visual_similarity\n", "labels.csv: no line"),
    ] {
        let output = refused("labels.csv", text);
        assert!(output.contains(words), "{output}");
    }
    assert!(refused("labels.xlsx", "").contains("use .jsonl or .csv"));
    let bytes = HumanLabels::read("l.csv", &[0xff], &rubric(SEMANTIC)).unwrap_err();
    assert!(bytes.to_string().contains("not UTF-8"));
}

#[test]
fn items_carry_their_own_labels() {
    #[derive(Debug)]
    enum Either {
        Label(LabelError),
        #[expect(dead_code, reason = "no result of this test is unreadable")]
        Journal(JournalError),
    }
    impl From<LabelError> for Either {
        fn from(error: LabelError) -> Self {
            Self::Label(error)
        }
    }
    let labeled = |id: &str, labels: Value| {
        let mut result = judged(id, [9; 5], &[], &[]);
        result.item.labels = serde_json::from_value(labels).unwrap();
        result
    };
    let of = |results: Vec<JobResult>| {
        HumanLabels::from_items::<Either>(&rubric(SEMANTIC), results.into_iter().map(Ok))
    };
    let results = vec![
        labeled("a", serde_json::json!({"visual_similarity": 9, "source": "figma"})),
        labeled("a", serde_json::json!({"visual_similarity": 9})),
        labeled("b", serde_json::json!({})),
    ];
    let labels = of(results).unwrap();
    assert_eq!(labels.items().collect::<Vec<_>>(), ["a"]);
    assert_eq!(labels.ratings_of_item("a").len(), 1);
    let wrong = of(vec![labeled("a", serde_json::json!({"visual_similarity": "high"}))]);
    let Err(Either::Label(error)) = wrong else { panic!("{wrong:?}") };
    assert_eq!(
        error.to_string(),
        "the labels of item \"a\", field \"visual_similarity\": expected a number, found \"high\""
    );
}

proptest! {
    #[test]
    fn arbitrary_label_files_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), text in "[id,a\"{}:0-9\n]{0,120}") {
        for name in ["l.jsonl", "l.csv"] {
            let _ = HumanLabels::read(name, &bytes, &rubric(SEMANTIC));
            let _ = HumanLabels::read(name, text.as_bytes(), &rubric(SEMANTIC));
        }
    }
}
