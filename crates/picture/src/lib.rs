//! A chart as a PNG: SVG in, bytes out, text by the fonts of the system.
//!
//! Invariants: nothing but fonts is read: an image or style sheet that an SVG names is not loaded; width and height of
//! the picture are bounded; without a font there is no picture, because a chart without words misleads.
//! Absent on purpose: drawing charts (`report`), and fonts of its own, which would be larger than prony.

use fontdb::{Database, Family, Query};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{ImageHrefResolver, Options, Tree};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Widths that can be asked for, in pixels.
pub const WIDTHS: (u32, u32) = (100, 8_000);
/// Highest picture, for charts of very many rows.
const HEIGHT_MAX: u32 = 32_000;
/// What `sans-serif` means, the first that is there.
const SANS: [&str; 8] =
    ["Noto Sans", "DejaVu Sans", "Liberation Sans", "Roboto", "Open Sans", "FreeSans", "Arial", "Helvetica"];

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
pub enum PictureError {
    /// The system has no font.
    #[error(
        "no font was found to write the chart's text with\n  remedy: apt-get install fonts-dejavu-core, or take --svg"
    )]
    NoFont,
    /// A width that is out of range.
    #[error("a picture of {0} pixels is out of range\n  remedy: give --width from {low} to {high}", low = WIDTHS.0, high = WIDTHS.1)]
    Width(u32),
    /// The picture would be too high.
    #[error(
        "the picture would be {0} pixels high, more than {HEIGHT_MAX}\n  remedy: give a smaller --width, or take --svg"
    )]
    Height(u32),
    /// The SVG cannot be read.
    #[error("the chart cannot be read as SVG ({0})\n  remedy: take --svg")]
    Svg(String),
    /// The PNG cannot be written.
    #[error("the picture cannot be packed as PNG ({0})\n  remedy: take --svg")]
    Png(String),
}

/// `svg` as a PNG of `width` pixels; of its own width, twice, where none is given.
///
/// # Errors
/// [`PictureError`] says what lacks.
pub fn png(svg: &str, width: Option<u32>) -> Result<Vec<u8>, PictureError> {
    let mut fonts = Database::new();
    fonts.load_system_fonts();
    for folder in further_folders(std::env::var_os("XDG_DATA_DIRS").as_deref()) {
        fonts.load_fonts_dir(folder);
    }
    with_fonts(svg, width, fonts)
}

/// Where fonts are beside `fontdb`'s own list (`/usr/share/fonts`, `/usr/local/share/fonts`, `~/.fonts`,
/// `~/.local/share/fonts`): below each folder of `XDG_DATA_DIRS` (XDG Base Directory Specification), as Nix has them.
fn further_folders(data_dirs: Option<&OsStr>) -> Vec<PathBuf> {
    let known = ["/usr/share", "/usr/local/share"];
    let folders = data_dirs.map(|dirs| std::env::split_paths(dirs).collect::<Vec<_>>()).unwrap_or_default();
    let further = folders.into_iter().filter(|folder| !known.iter().any(|known| folder == Path::new(known)));
    further.filter(|folder| folder.is_absolute()).map(|folder| folder.join("fonts")).collect()
}

fn with_fonts(svg: &str, width: Option<u32>, mut fonts: Database) -> Result<Vec<u8>, PictureError> {
    let sans = sans(&fonts).ok_or(PictureError::NoFont)?;
    fonts.set_sans_serif_family(&sans);
    let options = Options {
        font_family: sans,
        fontdb: Arc::new(fonts),
        image_href_resolver: ImageHrefResolver {
            resolve_data: Box::new(|_, _, _| None),
            resolve_string: Box::new(|_, _| None),
        },
        ..Options::default()
    };
    let tree = Tree::from_str(svg, &options).map_err(|error| PictureError::Svg(error.to_string()))?;
    let size = tree.size();
    let width = width.unwrap_or((size.width() * 2.0) as u32);
    if !(WIDTHS.0..=WIDTHS.1).contains(&width) {
        return Err(PictureError::Width(width));
    }
    let scale = width as f32 / size.width();
    // A cast of a float saturates.
    let height = ((size.height() * scale).ceil() as u32).max(1);
    if height > HEIGHT_MAX {
        return Err(PictureError::Height(height));
    }
    let mut pixels = Pixmap::new(width, height).ok_or(PictureError::Height(height))?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| PictureError::Png(error.to_string()))
}

/// The family that stands for `sans-serif`; any that there is before none.
fn sans(fonts: &Database) -> Option<String> {
    let is_there =
        |name: &&&str| fonts.query(&Query { families: &[Family::Name(name)], ..Query::default() }).is_some();
    let known = SANS.iter().find(is_there).map(|name| (*name).to_owned());
    known.or_else(|| fonts.faces().find_map(|face| face.families.first().map(|(name, _)| name.clone())))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SVG: &str = "<svg xmlns='http://www.w3.org/2000/svg' width='200' height='50'>\
        <rect width='100%' height='100%' fill='#ffffff'/><text x='5' y='30' font-family='sans-serif'>words</text></svg>";

    #[test]
    fn without_fonts_there_is_no_picture_but_a_remedy() {
        let error = with_fonts(SVG, None, Database::new()).unwrap_err().to_string();
        assert!(error.contains("apt-get install fonts-dejavu-core") && error.contains("--svg"), "{error}");
    }

    #[test]
    fn fonts_are_looked_for_where_the_system_keeps_its_data() {
        let dirs = OsStr::new("/usr/local/share:/nix/store/x/share:relative:/usr/share/");
        assert_eq!(further_folders(Some(dirs)), [Path::new("/nix/store/x/share/fonts")]);
        assert!(further_folders(None).is_empty());
    }

    #[test]
    fn text_is_drawn_in_the_size_asked_for() {
        let png = match png(SVG, Some(400)) {
            Err(PictureError::NoFont) => return println!("skipped: no font is installed"),
            other => other.unwrap(),
        };
        let pixels = Pixmap::decode_png(&png).unwrap();
        assert_eq!((pixels.width(), pixels.height()), (400, 100));
        assert!(pixels.pixels().iter().any(|pixel| pixel.red() < 128), "nothing was written");
        assert!(matches!(super::png(SVG, Some(7)), Err(PictureError::Width(7))));
        assert!(matches!(super::png("<svg", None), Err(PictureError::Svg(_))));
        let high = SVG.replace("height='50'", "height='90000'");
        assert!(matches!(super::png(&high, Some(400)), Err(PictureError::Height(_))));
    }

    #[test]
    fn no_file_is_read() {
        let folder = std::env::temp_dir();
        let svg = SVG.replace(
            "<text",
            &format!("<image href='{}/x.svg' width='9' height='9'/><text", folder.display()),
        );
        match png(&svg, None) {
            Err(PictureError::NoFont) => println!("skipped: no font is installed"),
            other => assert_eq!(other.unwrap(), png(SVG, None).unwrap()),
        }
    }
}
