//! Test plans of JMeter: what becomes of each element, and that nothing is dropped without a word.

use import::{Format, Imported, Options, detect, import, to_toml};
use schema::arrival::Think;
use schema::scenario::{
    Capture, FeederFormat, FeederOrder, NamedRequest, OnFailure, ScenarioFile, StatusItem,
};
use std::path::Path;
use units::Nanos;

fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    std::fs::read_to_string(path).unwrap()
}

fn imported(name: &str, group: Option<&str>) -> Imported {
    let text = fixture(name);
    assert_eq!(detect(name, &text), Some(Format::Jmeter));
    let options = Options { group: group.map(str::to_owned), ..Options::default() };
    let imported =
        import(Format::Jmeter, "x", name, &text, &options).unwrap_or_else(|error| panic!("{error}"));
    let written = to_toml(&imported.scenario);
    let again =
        ScenarioFile::from_toml("x.toml", &written).unwrap_or_else(|error| panic!("{error}\n{written}"));
    let value = |scenario: &ScenarioFile| serde_json::to_value(scenario).unwrap();
    assert_eq!(value(&again), value(&imported.scenario), "{written}");
    imported
}

fn request<'a>(imported: &'a Imported, name: &str) -> &'a NamedRequest {
    imported.scenario.requests.iter().find(|request| request.name == name).expect(name)
}

fn header<'a>(request: &'a NamedRequest, name: &str) -> Option<&'a str> {
    request.headers.get(name).map(String::as_str)
}

fn has_note(imported: &Imported, parts: &[&str]) {
    let found = imported.notes.iter().any(|note| parts.iter().all(|part| note.contains(part)));
    assert!(found, "{parts:?}: {:#?}", imported.notes);
}

#[test]
fn a_thread_group_becomes_a_session_with_the_arguments_of_its_load() {
    let plan = imported("shop.jmx", None);
    assert_eq!(plan.origin, "http://127.0.0.1:8080");
    let session = plan.scenario.session.as_ref().unwrap();
    let steps = ["login", "product", "product", "order"].map(str::to_owned);
    assert_eq!(session.steps.as_deref(), Some(&steps[..]));
    assert_eq!((session.cookies, session.on_failure), (None, OnFailure::End));
    assert_eq!(
        plan.load,
        ["-c 50", "--think 'uniform:from=500ms,to=1500ms'", "--warmup 30s", "-d 300s", "--follow=20"]
    );
    let think = plan.think.as_ref().unwrap();
    assert_eq!(think[..], [1000, 3000, 3000, 1000].map(Nanos::from_millis));
}

#[test]
fn samplers_take_defaults_fields_arguments_and_variables() {
    let plan = imported("shop.jmx", None);
    let login = request(&plan, "login");
    assert_eq!((login.method.as_deref(), login.path.as_str()), (None, "/api/v2/login"));
    let body = "email=${urlencode(accounts.email)}&remember%20me=for%20ever%20%26%20a%20day";
    assert_eq!(login.body.as_deref(), Some(body));
    assert_eq!(header(login, "Content-Type"), Some("application/x-www-form-urlencoded"));
    assert_eq!((header(login, "Accept"), header(login, "Connection")), (Some("application/json"), None));
    let product = request(&plan, "product");
    assert_eq!(product.path, "/api/v2/products/${uniform(1, 5000)}?lang=en%20GB");
    assert_eq!((header(product, "accept"), header(product, "Accept")), (Some("*/*"), None), "the nearer one");
    assert_eq!(header(product, "Authorization"), Some("Bearer ${token}"));
    assert_eq!(product.timeout, Some(Nanos::from_secs(2)));
    let think = Think::Uniform { from: Some(Nanos::from_millis(2500)), to: Nanos::from_millis(3500) };
    assert_eq!(product.think, Some(think), "a timer of 2 s more");
    let order = request(&plan, "order");
    assert_eq!(
        (order.method.as_deref(), order.path.as_str()),
        (Some("PUT"), "/api/v2/users/${user_id}/orders")
    );
    let body = r#"{"sku": "${sku}", "key": "${uuid4()}", "note": "$${gift}"}"#;
    assert_eq!(order.body.as_deref(), Some(body));
}

#[test]
fn checks_captures_and_rows_follow_the_plan() {
    let plan = imported("shop.jmx", None);
    let (login, product) = (request(&plan, "login"), request(&plan, "product"));
    assert_eq!(login.expect.status, [StatusItem::Code(200), StatusItem::Code(201)]);
    assert_eq!(product.expect.contains, ["\"price\":", "\"sku\":"]);
    let json = |pointer: &str, default: Option<&str>| Capture {
        json: Some(pointer.to_owned()),
        default: default.map(str::to_owned),
        ..Capture::default()
    };
    assert_eq!(login.capture["token"], json("/token", None));
    assert_eq!(login.capture["user_id"], json("/user/id", Some("none")));
    let sku = Capture {
        regex: Some(r#""sku":"(\w+)""#.to_owned()),
        default: Some("NONE".to_owned()),
        ..Capture::default()
    };
    assert_eq!(product.capture["sku"], sku);
    let rows = &plan.scenario.feeders["accounts"];
    assert_eq!((rows.file.as_str(), rows.format), ("data/accounts.csv", Some(FeederFormat::Csv)));
    assert_eq!(rows.columns.as_deref(), Some(&["email".to_owned(), "password".to_owned()][..]));
    assert_eq!((rows.delimiter.as_deref(), rows.order), (Some(";"), FeederOrder::Sequential));
}

#[test]
fn what_has_no_place_is_named_with_its_line() {
    let plan = imported("shop.jmx", None);
    for parts in [
        &["left out: SetupThreadGroup `Fill the database`", "(line 31)"][..],
        &["left out: IfController `Only members`", "no conditions", "with the request below it"],
        &["left out: JSR223Sampler `Compute`", "HTTP only"],
        &["left out: ResponseAssertion `No error`", "not what it lacks"],
        &["requests to http://stats.test:8080 left out"],
        &["variables that nothing in the plan sets", "`${gift}`"],
        &["properties replaced by their defaults", "`port`"],
        &["disabled elements left out", ": 1"],
        &["listeners left out"],
        &["transaction controllers"],
        &["that prony sets itself left out"],
        &["changed: ThreadGroup `Buyers`", "warm-up"],
        &["pauses before the first request"],
    ] {
        has_note(&plan, parts);
    }
}

#[test]
fn a_switch_alone_in_its_group_is_a_mix_and_a_shaping_timer_a_shape() {
    let error = import(Format::Jmeter, "x", "mix.jmx", &fixture("mix.jmx"), &Options::default()).unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("mix.jmx:45: there are 2 thread groups"), "{text}");
    assert!(text.contains("`Readers`, `Shaped`") && text.contains("--group"), "{text}");
    let mix = imported("mix.jmx", Some("Readers"));
    let weights: Vec<_> =
        mix.scenario.requests.iter().map(|request| (request.name.as_str(), request.weight)).collect();
    assert_eq!(weights, [("home", Some(70.0)), ("search", Some(30.0))]);
    assert!(mix.scenario.session.is_none() && mix.scenario.requests.iter().all(|r| r.think.is_none()));
    assert_eq!(mix.load, ["-c 20", "--think '100ms'", "-n 10000"]);
    has_note(&mix, &["left out: ThreadGroup `Shaped`", "--group"]);
    let shaped = imported("mix.jmx", Some("Shaped"));
    assert_eq!(request(&shaped, "ping").path, "/ping");
    let shape = "--shape 'piecewise:0s@10,60s@100,60s@100,360s@100'";
    assert_eq!(shaped.load, ["-c 8", "-R 10", shape, "-d 360s"]);
    has_note(&shaped, &["throughput timers", "open load"]);
}

/// A plan of one group with these elements in it.
fn plan(inner: &str) -> String {
    format!(
        "<jmeterTestPlan>\n<hashTree>\n<TestPlan testname=\"p\"/>\n<hashTree>\n<ThreadGroup testname=\"g\"/>\n<hashTree>\n\
         {inner}\n</hashTree></hashTree></hashTree></jmeterTestPlan>\n"
    )
}

fn sampler(name: &str, path: &str, below: &str) -> String {
    format!(
        "<HTTPSamplerProxy testname=\"{name}\">\n<stringProp name=\"HTTPSampler.domain\">h.test</stringProp>\n\
         <stringProp name=\"HTTPSampler.path\">{path}</stringProp>\n</HTTPSamplerProxy>\n<hashTree>{below}</hashTree>\n"
    )
}

/// An element with these properties and nothing below it.
fn element(kind: &str, properties: &[(&str, &str)]) -> String {
    let property = |(name, value): &(&str, &str)| format!("<stringProp name=\"{name}\">{value}</stringProp>");
    let properties: String = properties.iter().map(property).collect();
    format!("<{kind} testname=\"its {kind}\">{properties}</{kind}><hashTree/>\n")
}

fn of(text: &str, options: &Options) -> Result<Imported, String> {
    import(Format::Jmeter, "x", "p.jmx", text, options).map_err(|error| error.to_string())
}

#[test]
fn what_cannot_be_imported_is_refused_with_its_line_and_remedy() {
    let none = Options::default();
    let other = Options { group: Some("h".to_owned()), ..Options::default() };
    let looped = "<LoopController testname=\"l\"><stringProp name=\"LoopController.loops\">99999</stringProp>\
                  </LoopController>\n<hashTree>";
    let one = sampler("a", "/", "");
    for (text, options, cause) in [
        ("<html/>".to_owned(), &none, "p.jmx:1: this is no test plan"),
        ("<jmeterTestPlan>\n<hashTree>".to_owned(), &none, "p.jmx:2: this is no XML"),
        ("<jmeterTestPlan/>".to_owned(), &none, "no TestPlan"),
        ("<!DOCTYPE a [<!ENTITY b \"c\">]>\n<a/>".to_owned(), &none, "p.jmx:1: the file has a document type"),
        (plan(""), &none, "p.jmx:5: no request of ThreadGroup `g` (line 5) can be sent"),
        (plan(&one), &other, "p.jmx:3: there is no thread group `h`"),
        (
            plan(&one).replace("ThreadGroup ", "ThreadGroup enabled=\"false\" "),
            &none,
            "no enabled thread group",
        ),
        (
            plan(&format!("{looped}{one}</hashTree>")),
            &none,
            "p.jmx:7: LoopController `l` (line 7) makes a session",
        ),
        (plan(&one.replace("h.test", "a b")), &none, "p.jmx:7: "),
    ] {
        let error = of(&text, options).expect_err(cause);
        assert!(error.contains(cause) && error.contains("remedy: "), "{cause}: {error}");
    }
}

#[test]
fn a_server_that_is_known_only_during_the_load_is_the_one_that_is_given() {
    let text = plan(&sampler("a", "/x", "").replace("h.test", "${server}"));
    assert!(of(&text, &Options::default()).unwrap_err().contains("can be sent"));
    let options = Options { origin: Some("http://127.0.0.1:81".to_owned()), ..Options::default() };
    assert_eq!(of(&text, &options).unwrap().origin, "http://127.0.0.1:81");
}

#[test]
fn a_value_is_known_from_the_step_that_captures_it_on() {
    let extractor = "<BoundaryExtractor testname=\"b\">\
                     <stringProp name=\"BoundaryExtractor.refname\">id</stringProp>\
                     <stringProp name=\"BoundaryExtractor.lboundary\">id=[</stringProp>\
                     <stringProp name=\"BoundaryExtractor.rboundary\">]</stringProp></BoundaryExtractor><hashTree/>";
    let steps =
        sampler("before", "/${id}", "") + &sampler("a", "/a", extractor) + &sampler("b", "/${id}", "");
    let found = of(&plan(&steps), &Options::default()).unwrap();
    let paths: Vec<&str> = found.scenario.requests.iter().map(|request| request.path.as_str()).collect();
    assert_eq!(paths, ["/$${id}", "/a", "/${id}"]);
    let capture = &found.scenario.requests[1].capture["id"];
    assert_eq!(capture.regex.as_deref(), Some(r"(?s)id=\[(.*?)\]"));
    assert!(found.notes.iter().any(|note| note.contains("`${id}`: 1")), "{:?}", found.notes);
}

#[test]
fn pauses_of_actions_and_rows_named_by_their_first_line() {
    let action = "<TestAction testname=\"wait\"><intProp name=\"ActionProcessor.action\">1</intProp>\
                  <stringProp name=\"ActionProcessor.duration\">700</stringProp></TestAction><hashTree/>\n";
    let rows = "<CSVDataSet testname=\"c\"><stringProp name=\"filename\">/data/my users.csv</stringProp>\
                <boolProp name=\"recycle\">false</boolProp><boolProp name=\"stopThread\">true</boolProp></CSVDataSet><hashTree/>\n";
    let steps =
        format!("{rows}{}{action}{}", sampler("a", "/a", ""), sampler("b", "/b?${user name}=${key}", ""));
    let found = of(&plan(&steps), &Options::default()).unwrap();
    let last = &found.scenario.requests[1];
    assert_eq!(last.think, Some(Think::Constant { mean: Nanos::from_millis(700) }));
    assert_eq!(last.path, "/b?${my_users[\"user name\"]}=${my_users.key}");
    let feeder = &found.scenario.feeders["my_users"];
    assert_eq!((feeder.order, &feeder.columns), (FeederOrder::Unique, &None));
    assert_eq!(found.scenario.session.as_ref().unwrap().cookies, Some(false), "there is no cookie manager");
}

#[test]
fn what_looks_at_other_things_than_the_answer_is_left_out_and_named() {
    let assertion = element(
        "ResponseAssertion",
        &[
            ("Assertion.scope", "variable"),
            ("Scope.variable", "x"),
            ("Assertion.test_field", "Assertion.response_data"),
        ],
    );
    let extractor = element(
        "RegexExtractor",
        &[("Sample.scope", "children"), ("RegexExtractor.refname", "x"), ("RegexExtractor.regex", "a(.)")],
    );
    let found = of(&plan(&sampler("a", "/", &(assertion + &extractor))), &Options::default()).unwrap();
    let request = &found.scenario.requests[0];
    assert!(request.capture.is_empty() && request.expect.contains.is_empty(), "{request:?}");
    has_note(&found, &["left out: ResponseAssertion", "looks at a variable"]);
    has_note(&found, &["left out: RegexExtractor", "embedded resources"]);
}

#[test]
fn an_assertion_that_ignores_the_status_allows_all_unless_another_names_codes() {
    let body = "<ResponseAssertion testname=\"b\"><collectionProp name=\"Asserion.test_strings\">\
                <stringProp name=\"1\">gone</stringProp></collectionProp>\
                <stringProp name=\"Assertion.test_field\">Assertion.response_data</stringProp>\
                <boolProp name=\"Assertion.assume_success\">true</boolProp>\
                <intProp name=\"Assertion.test_type\">16</intProp></ResponseAssertion><hashTree/>";
    let code = body.replace("gone", "404").replace("response_data", "response_code").replace(">16<", ">8<");
    let statuses = |below: &str| {
        let found = of(&plan(&sampler("a", "/", below)), &Options::default()).unwrap();
        found.scenario.requests[0].expect.status.clone()
    };
    let all = ["2xx", "3xx", "4xx", "5xx"].map(|class| StatusItem::Range(class.to_owned()));
    assert_eq!(statuses(body), all);
    assert_eq!(statuses(&format!("{body}{code}")), [StatusItem::Code(404)]);
}

#[test]
fn values_without_names_are_the_body_and_times_come_from_the_defaults() {
    let argument = "<elementProp name=\"HTTPsampler.Arguments\" elementType=\"Arguments\">\
                    <collectionProp name=\"Arguments.arguments\"><elementProp name=\"\" elementType=\"HTTPArgument\">\
                    <stringProp name=\"Argument.value\">{&quot;a b&quot;: 1}</stringProp></elementProp></collectionProp>\
                    </elementProp><stringProp name=\"HTTPSampler.method\">POST</stringProp></HTTPSamplerProxy>";
    let defaults = "<ConfigTestElement guiclass=\"org.apache.jmeter.protocol.http.config.gui.HttpDefaultsGui\" testname=\"d\">\
                    <stringProp name=\"HTTPSampler.response_timeout\">1500</stringProp>\
                    <stringProp name=\"HTTPSampler.connect_timeout\">500</stringProp></ConfigTestElement><hashTree/>\n";
    let text = defaults.to_owned() + &sampler("a", "/", "").replace("</HTTPSamplerProxy>", argument);
    let found = of(&plan(&text), &Options::default()).unwrap();
    let request = &found.scenario.requests[0];
    assert_eq!(request.body.as_deref(), Some("{\"a b\": 1}"));
    assert_eq!((request.method.as_deref(), request.timeout), (None, Some(Nanos::from_millis(1500))));
    assert!(request.headers.is_empty(), "{request:?}");
    has_note(&found, &["changed: HTTPSamplerProxy `a`", "--connect-timeout"]);
}

#[test]
fn names_that_differ_stay_different_and_a_lost_capture_is_no_value() {
    let extractor = |name: &str| {
        element(
            "JSONPostProcessor",
            &[("JSONPostProcessor.referenceNames", name), ("JSONPostProcessor.jsonPathExprs", "$.id")],
        )
    };
    let counter = element("CounterConfig", &[("CounterConfig.name", "user.id")]);
    let elsewhere = sampler("c", "/c", &extractor("lost")).replace("h.test", "other.test");
    let steps = counter
        + &sampler("a", "/a?n=${user.id}", &extractor("user-id"))
        + &sampler("b", "/b?n=${user.id}", &extractor("user_id"))
        + &elsewhere
        + &sampler("d", "/${user-id}/${user_id}/${lost}", "");
    let found = of(&plan(&steps), &Options::default()).unwrap();
    let paths: Vec<&str> = found.scenario.requests.iter().map(|request| request.path.as_str()).collect();
    assert_eq!(paths, ["/a?n=${user_id}", "/b?n=${user_id}", "/${user_id_2}/${user_id_3}/$${lost}"]);
    assert_eq!(found.scenario.vars["user_id"], "0 + 1 * (session())");
    assert!(found.scenario.requests[0].capture.contains_key("user_id_2"));
    assert!(found.scenario.requests[1].capture.contains_key("user_id_3"));
    has_note(&found, &["requests to http://other.test:80 left out"]);
}

#[test]
fn an_extractor_of_several_requests_is_said_to_be_asked_of_each() {
    let extractor = element(
        "BoundaryExtractor",
        &[
            ("BoundaryExtractor.refname", "x"),
            ("BoundaryExtractor.lboundary", "&lt;"),
            ("BoundaryExtractor.match_number", "0"),
        ],
    );
    let found =
        of(&plan(&(extractor + &sampler("a", "/", "") + &sampler("b", "/${x}", ""))), &Options::default())
            .unwrap();
    assert_eq!(found.scenario.requests[1].path, "/${x}");
    has_note(&found, &["changed: BoundaryExtractor", "fails where its answer has no such value"]);
    has_note(&found, &["changed: BoundaryExtractor", "not one at random"]);
}

#[test]
fn a_server_or_method_of_the_load_is_replaced_or_left_out_and_said() {
    let rows = element("CSVDataSet", &[("filename", "a.csv"), ("variableNames", "host,verb")]);
    let variable = |name: &str, key: &str, value: &str| {
        let property =
            format!("<stringProp name=\"HTTPSampler.{key}\">{value}</stringProp></HTTPSamplerProxy>");
        sampler(name, "/", "").replace("</HTTPSamplerProxy>", &property)
    };
    let steps = rows
        + &sampler("a", "/", "")
        + &sampler("b", "/b", "").replace("h.test", "${host}")
        + &variable("c", "port", "${host}")
        + &variable("d", "method", "${verb}")
        + &sampler("e", "http://${host}/x", "");
    let found = of(&plan(&steps), &Options::default()).unwrap();
    let names: Vec<&str> = found.scenario.requests.iter().map(|request| request.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c"]);
    has_note(&found, &["servers that are known only during the load, replaced by http://h.test:80: 2"]);
    has_note(&found, &["left out: HTTPSamplerProxy `d`", "method"]);
    has_note(&found, &["left out: HTTPSamplerProxy `e`", "server of its URL"]);
}
