// Markdown, with HTML in it, from people and programs nobody vouches for. What comes out holds text, structure,
// links and pictures, and nothing that acts: no scripts, handlers, styles, forms, frames, or names that the page
// could stumble over.
import { nameToEmoji } from 'gemoji'
import { Marked } from 'marked'
import sanitizeHtml from 'sanitize-html'
import { showSource } from './source-html.ts'

/**
 * Takes time that grows with the square of some bodies, so it is called in a thread: see html.ts. Whoever changes what
 * comes out of it raises the version there.
 */
export function renderBody(body: string): string {
  try {
    return sanitizeHtml(markdown.parse(body, { async: false }), policy())
  } catch (error) {
    // Text that nests deeper than the stack is shown as it was written.
    if (error instanceof RangeError) return showSource(body)
    throw error
  }
}

const markdown = new Marked({
  gfm: true,
  // A check box is a form field; a sign for it says as much.
  renderer: { checkbox: ({ checked }) => (checked ? '☑ ' : '☐ ') },
})

/** Made for each body, because it counts the elements that the text it is shown lies in. */
function policy(): sanitizeHtml.IOptions {
  let verbatim = 0
  return {
    ...rules,
    onOpenTag: (tag) => (verbatim += verbatimTags.has(tag) ? 1 : 0),
    onCloseTag: (tag) => (verbatim -= verbatimTags.has(tag) ? 1 : 0),
    textFilter: (text) => (verbatim > 0 ? text : fillEmoji(text)),
  }
}

const verbatimTags = new Set(['code', 'pre', 'kbd', 'samp'])

/** `:tada:` to 🎉; names that are unknown stay as they are. */
function fillEmoji(text: string): string {
  return text.replace(/(?<![A-Za-z0-9]):([a-z0-9_+-]{1,50}):(?![A-Za-z0-9])/g, (whole, name: string) =>
    Object.hasOwn(nameToEmoji, name) ? (nameToEmoji[name] ?? whole) : whole,
  )
}

const rules: sanitizeHtml.IOptions = {
  allowedTags: (
    'h1 h2 h3 h4 h5 h6 p div span br hr blockquote pre code kbd samp a img ul ol li dl dt dd details summary ' +
    'b strong i em u s del ins mark small sub sup abbr q var table caption thead tbody tfoot tr th td'
  ).split(' '),
  allowedAttributes: {
    a: ['href', 'title', 'rel'],
    img: ['src', 'alt', 'title', 'width', 'height'],
    abbr: ['title'],
    details: ['open'],
    ol: ['start'],
    td: ['align', 'colspan', 'rowspan'],
    th: ['align', 'colspan', 'rowspan'],
  },
  allowedClasses: { code: [/^language-[\w-]+$/] },
  allowedSchemes: ['http', 'https', 'mailto'],
  allowedSchemesByTag: { img: ['http', 'https'] },
  allowProtocolRelative: false,
  transformTags: { a: sanitizeHtml.simpleTransform('a', { rel: 'nofollow noopener noreferrer' }) },
}
