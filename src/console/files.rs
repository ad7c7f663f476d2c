//! The page's own files, in the program. There are no others: no path of a request ever meets a file system.

/// One file.
#[derive(Debug)]
pub(super) struct File {
    /// Its name below the console's path.
    pub(super) name: &'static str,
    pub(super) kind: &'static str,
    pub(super) text: &'static str,
}

const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// Every file; the page itself has no name.
pub(super) static FILES: [File; 10] = [
    File { name: "", kind: HTML, text: include_str!("web/index.html") },
    File { name: "style.css", kind: "text/css; charset=utf-8", text: include_str!("web/style.css") },
    File { name: "icon.svg", kind: "image/svg+xml", text: include_str!("web/icon.svg") },
    File { name: "main.js", kind: SCRIPT, text: include_str!("web/main.js") },
    File { name: "server.js", kind: SCRIPT, text: include_str!("web/server.js") },
    File { name: "dom.js", kind: SCRIPT, text: include_str!("web/dom.js") },
    File { name: "charts.js", kind: SCRIPT, text: include_str!("web/charts.js") },
    File { name: "overview.js", kind: SCRIPT, text: include_str!("web/overview.js") },
    File { name: "approvals.js", kind: SCRIPT, text: include_str!("web/approvals.js") },
    File { name: "lists.js", kind: SCRIPT, text: include_str!("web/lists.js") },
];

#[cfg(test)]
mod tests {
    use super::FILES;

    #[test]
    fn no_file_names_another_place_or_makes_markup_of_text() {
        for file in &FILES {
            let text = file.text.replace("http://www.w3.org/2000/svg", "");
            for mark in
                ["http://", "https://", "//cdn", "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write"]
            {
                assert!(!text.contains(mark), "{} has {mark}", file.name);
            }
            for mark in ["eval(", "Function(", "setTimeout(\"", " style=\"", "onclick", "onload=", "localStorage"] {
                assert!(!text.contains(mark), "{} has {mark}", file.name);
            }
        }
    }

    #[test]
    fn every_file_that_a_file_loads_is_there() {
        for file in &FILES {
            let loaded = file.text.split("from \"./").skip(1).chain(file.text.split("src=\"").skip(1));
            for name in loaded.chain(file.text.split("<link rel=\"stylesheet\" href=\"").skip(1)) {
                let name = name.split('"').next().unwrap();
                assert!(FILES.iter().any(|known| known.name == name), "{} loads {name}", file.name);
            }
        }
    }
}
