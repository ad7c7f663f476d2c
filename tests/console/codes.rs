//! The code of the terminal: replayed, guessed, and what an answer tells of it.

use bursar::console::{Bounds, News};

use crate::house::House;

#[tokio::test]
async fn a_login_code_is_good_once() {
    let house = House::empty(Bounds::usual());
    house.types("0000-0000-0000-0000").await.is(403, "code_over");
    let code = house.codes.issue().unwrap();
    let answer = house.types(&code.spelled()).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    house.types(&code.spelled()).await.is(403, "code_over");
    assert_eq!(house.news.borrow()[..], [News::LoggedIn]);
    let replaced = house.codes.issue().unwrap();
    let code = house.codes.issue().unwrap();
    house.types(&replaced.spelled()).await.is(403, "code_wrong");
    assert_eq!(house.types(&code.spelled().to_lowercase()).await.status, 200);
}

#[tokio::test]
async fn whoever_guesses_codes_ends_the_code_and_gets_nowhere() {
    let house = House::empty(Bounds::usual());
    let code = house.codes.issue().unwrap();
    for _ in 0..4 {
        house.types("0123-4567-89AB-CDEF").await.is(403, "code_wrong");
    }
    house.types(&format!("{}0", code.spelled().as_str())).await.is(403, "code_over");
    house.types(&code.spelled()).await.is(403, "code_over");
    assert_eq!(house.news.borrow()[..], [News::CodeSpent]);
    for _ in 0..20 {
        house.types(&code.spelled()).await.is(403, "code_over");
    }
}

#[tokio::test]
async fn a_code_in_an_address_or_in_a_form_lets_nobody_in() {
    let house = House::empty(Bounds::usual());
    let code = house.codes.issue().unwrap();
    let spelled = code.spelled();
    house.send(&house.get(&format!("?code={}", spelled.as_str()))).await.is(400, "malformed");
    house.send(&house.get("login")).await.is(405, "wrong_method");
    for body in
        [format!("code={}", spelled.as_str()), format!(r#"["{}"]"#, spelled.as_str()), "{}".to_owned(), String::new()]
    {
        house.send(&house.post("login", &body)).await.is(400, "malformed");
    }
    let twice = format!(r#"{{"code":"{0}","code":"{0}"}}"#, spelled.as_str());
    house.send(&house.post("login", &twice)).await.is(400, "malformed");
    assert_eq!(house.types(&spelled).await.status, 200, "none of it used the code up");
}
