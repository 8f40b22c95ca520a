// A row of a log as HTML. Every character of the log is escaped; the only markup is our own.
import type { Row } from '../screen/row.ts'

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

const palette = [
  '#2e3436',
  '#cc0000',
  '#4e9a06',
  '#c4a000',
  '#3465a4',
  '#75507b',
  '#06989a',
  '#d3d7cf',
  '#555753',
  '#ef2929',
  '#8ae234',
  '#fce94f',
  '#729fcf',
  '#ad7fa8',
  '#34e2e2',
  '#eeeeec',
]

const colorOf = (color: string) => (color.startsWith('#') ? color : (palette[Number(color)] ?? ''))

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (character) => entities[character] ?? '')
