//! Certificates in files.

use std::io;
use std::path::Path;

use super::Certificate;

impl Certificate {
    /// Writes the certificate to a file. The end of the name decides the format: `.xml` is JUnit, `badge.json` the
    /// badge, `.json` the whole certificate, and anything else the text.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be written.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let text = match () {
            () if name.ends_with(".xml") => self.to_junit()?,
            () if name.ends_with("badge.json") => self.to_badge()?,
            () if name.ends_with(".json") => self.to_json()?,
            () => self.to_text(),
        };
        std::fs::write(path, text)
    }
}
