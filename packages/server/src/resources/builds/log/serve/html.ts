// A log as a page, as a terminal shows it. Every character of the log is escaped; the only markup is our own.
import { Readable } from 'node:stream'
import type { RowReader } from '../rows/row-source.ts'
import { parseRow, type Row } from '../screen/row.ts'

/** With this policy the page can neither run scripts nor load anything. */
export const htmlPolicy = "default-src 'none'; style-src 'unsafe-inline'; sandbox"

export const asHtml = (rows: RowReader): Readable => Readable.from(writeHtml(rows), { objectMode: false })

async function* writeHtml(reader: RowReader): AsyncGenerator<string> {
  let number = 0
  yield `<!doctype html><html><head><meta charset="utf-8"><title>Log</title><style>${styles}</style></head><body><pre>`
  for await (const rows of reader.all()) {
    if (rows.length > 0) yield rows.map((json) => rowHtml(parseRow(json), ++number)).join('')
  }
  yield '</pre></body></html>\n'
}

const styles = [
  'body{background:#111;color:#eee;margin:0;padding:8px;font:13px/1.4 monospace}pre{margin:0;white-space:pre-wrap}',
  '.b{font-weight:bold}.d{opacity:.6}.i{font-style:italic}.u{text-decoration:underline}.s{text-decoration:line-through}',
  '.v{filter:invert(1)}',
].join('')

export function rowHtml({ runs }: Row, number: number): string {
  const parts = runs.map(({ text, style }) =>
    style === '' ? escapeHtml(text) : `<span ${attributesOf(style)}>${escapeHtml(text)}</span>`,
  )
  return `<span id="L${number}">${parts.join('')}</span>\n`
}

const classes: Readonly<Record<string, string>> = {
  bold: 'b',
  dim: 'd',
  italic: 'i',
  underline: 'u',
  inverse: 'v',
  strike: 's',
}

function attributesOf(style: string): string {
  const words = style.split(' ')
  const names = words.flatMap((word) => classes[word] ?? [])
  const colors = words.flatMap((word) => {
    if (word.startsWith('fg')) return `color:${colorOf(word.slice(2))}`
    return word.startsWith('bg') ? `background:${colorOf(word.slice(2))}` : []
  })
  return [
    ...(names.length > 0 ? [`class="${names.join(' ')}"`] : []),
    ...(colors.length > 0 ? [`style="${colors.join(';')}"`] : []),
  ].join(' ')
}

/** The 16 colors of terminals. */
const palette = (
  '#2e3436 #cc0000 #4e9a06 #c4a000 #3465a4 #75507b #06989a #d3d7cf ' +
  '#555753 #ef2929 #8ae234 #fce94f #729fcf #ad7fa8 #34e2e2 #eeeeec'
).split(' ')

const colorOf = (color: string) => (color.startsWith('#') ? color : (palette[Number(color)] ?? ''))

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (character) => entities[character] ?? '')
