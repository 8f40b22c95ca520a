// A lenient XML reader for test results: tags and text in one pass. It knows the five predefined entities and numeric
// characters, refuses document types, and never fetches anything. Files of test tools often contain control characters
// and bare ampersands, which strict parsers refuse.

type XmlPiece =
  | { kind: 'open'; name: string; attributes: ReadonlyMap<string, string> }
  | { kind: 'close'; name: string }
  | { kind: 'text'; text: string }

export class XmlError extends Error {}

const deepest = 100

/** Every `open` has its `close`, also for `<a/>`. */
export function* readXml(source: string): Generator<XmlPiece> {
  const open: string[] = []
  let at = source.startsWith('\uFEFF') ? 1 : 0
  while (at < source.length) {
    const tag = source.indexOf('<', at)
    const end = tag < 0 ? source.length : tag
    if (end > at && open.length > 0) yield { kind: 'text', text: decode(source.slice(at, end)) }
    if (tag < 0) break
    if (source.startsWith('<!--', tag)) at = skip(source, tag, '-->')
    else if (source.startsWith('<?', tag)) at = skip(source, tag, '?>')
    else if (source.startsWith('<![CDATA[', tag)) {
      at = skip(source, tag, ']]>')
      yield { kind: 'text', text: source.slice(tag + 9, at - 3) }
    } else if (source.startsWith('<!', tag)) throw new XmlError('a document type is not accepted')
    else if (source.startsWith('</', tag)) {
      at = skip(source, tag, '>')
      const name = source.slice(tag + 2, at - 1).trim()
      if (open.pop() !== name) throw new XmlError(`</${name.slice(0, 100)}> closes nothing`)
      yield { kind: 'close', name }
    } else {
      const opened = readTag(source, tag + 1)
      at = opened.end
      yield { kind: 'open', name: opened.name, attributes: opened.attributes }
      if (opened.isEmpty) yield { kind: 'close', name: opened.name }
      else if (open.push(opened.name) > deepest)
        throw new XmlError(`it is nested more than ${deepest} levels deep`)
    }
  }
  if (open.length > 0) throw new XmlError(`<${open.at(-1)?.slice(0, 100)}> is never closed`)
}

function skip(source: string, from: number, closing: string): number {
  const at = source.indexOf(closing, from)
  if (at < 0) throw new XmlError('it ends in the middle of a tag')
  return at + closing.length
}

interface Tag {
  name: string
  attributes: Map<string, string>
  isEmpty: boolean
  end: number
}

function readTag(source: string, from: number): Tag {
  const name = readName(source, from)
  const attributes = new Map<string, string>()
  let at = skipSpace(source, from + name.length)
  for (;;) {
    if (source[at] === '>') return { name, attributes, isEmpty: false, end: at + 1 }
    if (source.startsWith('/>', at)) return { name, attributes, isEmpty: true, end: at + 2 }
    const key = readName(source, at)
    at = skipSpace(source, at + key.length)
    if (source[at] !== '=') throw new XmlError(`the attribute ${key.slice(0, 100)} has no value`)
    at = skipSpace(source, at + 1)
    const quote = source[at]
    if (quote !== '"' && quote !== "'") throw new XmlError(`the value of ${key.slice(0, 100)} has no quotes`)
    const end = skip(source, at + 1, quote)
    attributes.set(key, decode(source.slice(at + 1, end - 1)))
    at = skipSpace(source, end)
  }
}

const space = new Set([' ', '\t', '\n', '\r'])
const notInName = new Set([...space, '', '<', '>', '/', '=', '"', "'"])

function readName(source: string, from: number): string {
  let end = from
  while (!notInName.has(source.charAt(end))) end++
  if (end === from) throw new XmlError('a tag or an attribute has no name')
  return source.slice(from, end)
}

function skipSpace(source: string, from: number): number {
  let at = from
  while (space.has(source.charAt(at))) at++
  return at
}

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

/** Unknown entities stay as they are. */
const decode = (text: string): string =>
  text.replace(/&(#?\w{1,8});/g, (whole, entity: string) => character(entity) ?? whole)

function character(entity: string): string | null {
  if (!entity.startsWith('#')) return Object.hasOwn(entities, entity) ? (entities[entity] ?? null) : null
  const code = /^#x[0-9a-f]+$/i.test(entity)
    ? Number.parseInt(entity.slice(2), 16)
    : /^#\d+$/.test(entity)
      ? Number.parseInt(entity.slice(1), 10)
      : -1
  return code >= 0 && code <= 0x10ffff ? String.fromCodePoint(code) : null
}
