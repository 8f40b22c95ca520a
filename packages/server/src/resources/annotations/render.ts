// Markdown, with HTML in it, from people and programs nobody vouches for. What comes out holds text, structure,
// links and pictures, and nothing that acts: no scripts, handlers, styles, forms, frames, or names that the page
// could stumble over.
import { createHash } from 'node:crypto'
import { createContext, Script } from 'node:vm'
import { Marked } from 'marked'
import sanitizeHtml from 'sanitize-html'

const mostKeptCharacters = 8 * 1024 * 1024
const kept = new Map<string, string>()
let keptCharacters = 0

/** The same body always gives the same HTML, so the last few megabytes of it are kept. */
export function renderBody(body: string): string {
  const key = createHash('sha256').update(body).digest('base64')
  const known = kept.get(key)
  if (known !== undefined) return known
  const html = renderInTime(body)
  kept.set(key, html)
  keptCharacters += html.length
  for (const [oldest, text] of kept) {
    if (keptCharacters <= mostKeptCharacters) break
    kept.delete(oldest)
    keptCharacters -= text.length
  }
  return html
}

const clock = { render: () => '' }
const clocked = { script: new Script('render()'), context: createContext(clock) }

/**
 * Some Markdown takes the renderer minutes, or more stack than there is. Whatever is not done in a time that suits
 * its size is shown as it was written. Only the time limit is borrowed from the context; what runs is our own code.
 */
function renderInTime(body: string): string {
  const timeout = 250 + Math.ceil(body.length / 1024)
  clock.render = () => sanitizeHtml(markdown.parse(body, { async: false }), policy)
  for (let attempt = 1; ; attempt++) {
    const before = process.cpuUsage()
    try {
      return String(clocked.script.runInContext(clocked.context, { timeout }))
    } catch (error) {
      if (attempt < mostAttempts && isTimeOut(error) && wasStarved(process.cpuUsage(before), timeout))
        continue
      return `<pre>${body.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')}</pre>`
    }
  }
}

const mostAttempts = 4

const isTimeOut = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'

/** The limit counts the time of the wall; where the machine does much else, little of it may have been ours. */
const wasStarved = ({ user, system }: NodeJS.CpuUsage, limitMs: number) =>
  (user + system) / 1000 < limitMs / 2

const markdown = new Marked({
  gfm: true,
  // A check box is a form field; a sign for it says as much.
  renderer: { checkbox: ({ checked }) => (checked ? '☑ ' : '☐ ') },
})

const policy: sanitizeHtml.IOptions = {
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
