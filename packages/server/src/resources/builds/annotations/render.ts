// Renders untrusted Markdown with HTML in it. The output has text, structure, links and images, and nothing active: no
// scripts, handlers, styles, forms, frames, or names that could clash with those of the page.
import { showLabel } from '@millrace/engine/labels/show.ts'
import { Marked } from 'marked'
import sanitizeHtml from 'sanitize-html'
import { showSource } from './source-html.ts'

/**
 * Some bodies take time that grows with the square of their length, so html.ts calls this in a thread. Raise the version
 * in queries.ts when the output changes.
 */
export function renderBody(body: string): string {
  try {
    return sanitizeHtml(markdown.parse(body, { async: false }), policy())
  } catch (error) {
    // Text that nests deeper than the stack is shown as source.
    if (error instanceof RangeError) return showSource(body)
    throw error
  }
}

const markdown = new Marked({
  gfm: true,
  // A check box would be a form field, so a character stands for it.
  renderer: { checkbox: ({ checked }) => (checked ? '☑ ' : '☐ ') },
})

/** One for each body, because it counts the elements around the current text. */
function policy(): sanitizeHtml.IOptions {
  let verbatim = 0
  return {
    ...rules,
    onOpenTag: (tag) => (verbatim += verbatimTags.has(tag) ? 1 : 0),
    onCloseTag: (tag) => (verbatim -= verbatimTags.has(tag) ? 1 : 0),
    textFilter: (text) => (verbatim > 0 ? text : showLabel(text)),
  }
}

const verbatimTags = new Set(['code', 'pre', 'kbd', 'samp'])

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
  // `artifact://path` names an artifact of the build; only our page knows the scheme.
  allowedSchemes: ['http', 'https', 'mailto', 'artifact'],
  allowedSchemesByTag: { img: ['http', 'https', 'artifact'] },
  allowProtocolRelative: false,
  transformTags: { a: sanitizeHtml.simpleTransform('a', { rel: 'nofollow noopener noreferrer' }) },
}
