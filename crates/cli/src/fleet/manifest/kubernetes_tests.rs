//! The structure of each document, and that prony's own readers understand it.

use super::super::tests::{check_agent, parse, two};
use super::*;
use schema::fleet::AgentLink;

const BASE: [&str; 3] = ["--kubernetes", "--image", "registry.internal/prony:0.1.0"];

/// A folder with files in the places of keys; what is in them is not looked at here.
fn keys() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for own in ["controller", "agents/load-1", "agents/load-2"] {
        fs::create_dir_all(folder.path().join(own)).unwrap();
        for file in [AUTHORITY_FILE, CERTIFICATE_FILE, KEY_FILE] {
            fs::write(folder.path().join(own).join(file), format!("{file} of {own}")).unwrap();
        }
    }
    folder
}

fn made(words: &[&str]) -> Result<(Value, String)> {
    let folder = keys();
    let args = parse(&[&[folder.path().to_str().unwrap()], &BASE[..], words].concat());
    let mut all = documents(&args, &two([7411, 7412]))?.into_iter();
    let ((list, text), (fleet, toml)) = (all.next().unwrap(), all.next().unwrap());
    assert_eq!((list, fleet, all.next()), ("prony-agents.json", "fleet.toml", None));
    Ok((serde_json::from_str(&text).unwrap(), toml))
}

fn of_kind<'a>(list: &'a Value, kind: &str) -> Vec<&'a Value> {
    list["items"].as_array().unwrap().iter().filter(|item| item["kind"] == kind).collect()
}

fn read_fleet(text: &str) -> Vec<(String, String, String)> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("fleet.toml");
    fs::write(&file, text).unwrap();
    let read = plan::fleet::read(file.to_str().unwrap()).unwrap();
    let agents = read.agents.into_iter().map(|agent| match agent.link {
        AgentLink::Tls { address, keys } => {
            let keys = keys.replace(folder.path().to_str().unwrap(), "HERE");
            (agent.name, address, keys)
        }
        other => panic!("{other:?}"),
    });
    agents.collect()
}

#[test]
fn each_agent_has_a_pod_of_its_own_keys_and_no_rights() {
    let (list, _) = made(&["--allow", "10.1.0.0/16", "--cpus", "2", "--memory-mib", "512"]).unwrap();
    assert_eq!((&list["apiVersion"], &list["kind"]), (&json!("v1"), &json!("List")));
    for item in list["items"].as_array().unwrap() {
        assert_eq!(item["metadata"]["namespace"], "prony", "{item}");
    }
    let sets = of_kind(&list, "StatefulSet");
    assert_eq!(sets.len(), 2);
    for (set, (name, port)) in sets.into_iter().zip([("load-1", 7411), ("load-2", 7412)]) {
        let spec = &set["spec"];
        assert_eq!(set["metadata"]["name"], format!("prony-{name}"));
        assert_eq!((&spec["replicas"], &spec["serviceName"]), (&json!(1), &json!("prony-agents")));
        assert_eq!(spec["selector"]["matchLabels"], spec["template"]["metadata"]["labels"]);
        assert_eq!(spec["selector"]["matchLabels"]["prony/agent"], name);
        let pod = &spec["template"]["spec"];
        assert_eq!(pod["automountServiceAccountToken"], false);
        assert_eq!(pod["securityContext"]["runAsNonRoot"], true);
        assert_eq!(
            pod["volumes"][0]["secret"],
            json!({ "secretName": format!("prony-{name}"), "defaultMode": 288 })
        );
        let container = &pod["containers"][0];
        assert_eq!(container["image"], BASE[2]);
        assert_eq!(container["securityContext"]["readOnlyRootFilesystem"], true);
        assert_eq!(container["securityContext"]["allowPrivilegeEscalation"], false);
        assert_eq!(container["securityContext"]["capabilities"]["drop"], json!(["ALL"]));
        assert_eq!(container["resources"]["requests"], json!({ "cpu": "2", "memory": "512Mi" }));
        assert_eq!(container["resources"]["requests"], container["resources"]["limits"]);
        let words: Vec<String> = serde_json::from_value(container["args"].clone()).unwrap();
        let agent = check_agent(&words);
        assert_eq!(agent.listen, Some(format!("0.0.0.0:{port}")));
        assert_eq!(agent.tls.as_deref(), container["volumeMounts"][0]["mountPath"].as_str().map(Path::new));
        assert_eq!(agent.allow, ["10.1.0.0/16"]);
    }
    let secrets = of_kind(&list, "Secret");
    let keys: Vec<_> = secrets
        .iter()
        .map(|secret| (&secret["metadata"]["name"], &secret["stringData"]["key.pem"]))
        .collect();
    let (of_controller, of_first) = (json!("key.pem of controller"), json!("key.pem of agents/load-1"));
    assert_eq!(keys[0], (&json!("prony-controller"), &of_controller));
    assert_eq!(keys[1], (&json!("prony-load-1"), &of_first));
    assert_eq!(keys.len(), 3);
    let service = of_kind(&list, "Service")[0];
    assert_eq!(service["spec"]["clusterIP"], "None");
    let ports: Vec<_> =
        service["spec"]["ports"].as_array().unwrap().iter().map(|port| &port["port"]).collect();
    assert_eq!(ports, [7411, 7412]);
}

#[test]
fn fleet_files_are_read_by_prony_and_name_the_pods() {
    let (list, toml) = made(&["--allow", "10.1.0.0/16", "--namespace", "load"]).unwrap();
    let within = of_kind(&list, "Secret")[0]["stringData"]["fleet.toml"].as_str().unwrap();
    for (text, is_within) in [(within, true), (toml.as_str(), false)] {
        let fleet = read_fleet(text);
        let reached: Vec<_> =
            fleet.iter().map(|(name, address, _)| (name.as_str(), address.as_str())).collect();
        let wanted = [
            ("load-1", "prony-load-1-0.prony-agents.load.svc:7411"),
            ("load-2", "prony-load-2-0.prony-agents.load.svc:7412"),
        ];
        assert_eq!(reached, wanted);
        for (_, _, keys) in fleet {
            assert!(
                if is_within { keys.starts_with("HERE") } else { keys.ends_with("/controller") },
                "{keys}"
            );
        }
    }
}

#[test]
fn only_the_controller_reaches_agents_and_they_reach_only_the_target() {
    let spec =
        |words: &[&str]| made(words).map(|(list, _)| of_kind(&list, "NetworkPolicy")[0]["spec"].clone());
    let of_network = spec(&["--allow", "10.1.0.0/16", "--allow", "[::1]"]).unwrap();
    assert_eq!(of_network["policyTypes"], json!(["Ingress", "Egress"]));
    let from = &of_network["ingress"][0]["from"];
    assert_eq!(from.as_array().unwrap().len(), 1);
    assert_eq!(from[0]["podSelector"]["matchLabels"]["app.kubernetes.io/component"], "controller");
    assert_eq!(of_network["podSelector"]["matchLabels"]["app.kubernetes.io/component"], "agent");
    let to = json!([{ "ipBlock": { "cidr": "10.1.0.0/16" } }, { "ipBlock": { "cidr": "::1/128" } }]);
    assert_eq!(of_network["egress"], json!([{ "to": to }]), "no DNS: nothing has a name");
    let pods = ["--allow", "shop.shop.svc", "--target-pods", "app=shop", "--target-namespace", "shop"];
    let of_pods = spec(&pods).unwrap();
    let target = &of_pods["egress"][0]["to"];
    assert_eq!(target.as_array().unwrap().len(), 1);
    assert_eq!(target[0]["podSelector"]["matchLabels"], json!({ "app": "shop" }));
    assert_eq!(target[0]["namespaceSelector"]["matchLabels"]["kubernetes.io/metadata.name"], "shop");
    assert_eq!(of_pods["egress"][1]["ports"][0]["port"], 53);
    let error = spec(&["--allow", "shop.internal"]).unwrap_err().to_string();
    assert!(error.contains("cannot name the host shop.internal") && error.contains("remedy: "), "{error}");
}

#[test]
fn names_that_mean_something_else_are_refused_with_the_remedy() {
    for image in
        ["prony", "prony:latest", "p r:1", "-p:1", "r:5000/prony", "prony:", ":1", "prony:1\n", "a/@sha256:1"]
    {
        let error = check_image(image).unwrap_err().to_string();
        assert!(error.contains("remedy: give it with a tag"), "{image}: {error}");
    }
    for image in ["prony:1", "r:5000/a/prony:1.2", "prony@sha256:ab12"] {
        check_image(image).unwrap();
    }
    for namespace in ["", "A", "a.b", "-a", "a/b"] {
        let option = format!("--namespace={namespace}");
        let error = made(&["--allow", "10.0.0.1", &option]).unwrap_err().to_string();
        assert!(error.contains("is no namespace") && error.contains("remedy: "), "{error}");
    }
    for label in ["app", "=x", "app=", "a b=c", "app=-x", "a/b/c=d"] {
        let option = format!("--target-pods={label}");
        let error = made(&["--allow", "10.0.0.1", &option]).unwrap_err().to_string();
        assert!(error.contains("is no label") && error.contains("remedy: "), "{error}");
    }
    let folder = keys();
    let args = parse(&[&[folder.path().to_str().unwrap()], &BASE[..], &["--allow", "10.0.0.1"]].concat());
    let long = Agent { name: "a".repeat(47), port: 1 };
    let error = documents(&args, &[long]).unwrap_err().to_string();
    assert!(error.contains("too long a name") && error.contains("remedy: "), "{error}");
    let missing = Agent { name: "load-3".to_owned(), port: 1 };
    let error = format!("{:#}", documents(&args, &[missing]).unwrap_err());
    assert!(error.contains("agents/load-3/authority.pem") && error.contains("`prony fleet keys`"), "{error}");
}
