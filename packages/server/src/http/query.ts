// Query strings, read as leniently as public clients write them: unknown keys ignored, booleans in any case,
// lists as `name=a`, `name=a&name=b` or `name[]=a`, maps as `name[key]=a`, an empty value as an absent one.
import type { TSchema } from 'typebox'

export type RawQuery = Record<string, string | string[] | undefined>

/** The declared parameters, converted to the types their schemas ask for. What does not convert stays text, for the check to refuse. */
export function readQuery(raw: RawQuery, properties: Record<string, TSchema>): Record<string, unknown> {
  const query: Record<string, unknown> = {}
  for (const [name, schema] of Object.entries(properties)) {
    if ('type' in schema && schema.type === 'object') {
      const entries = readMap(raw, name)
      if (entries.length > 0) query[name] = Object.fromEntries(entries)
      continue
    }
    const [given, listed] = [raw[name], raw[`${name}[]`]]
    if (given === undefined && listed === undefined) continue
    const values = [given ?? [], listed ?? []].flat().filter((value) => value !== '')
    const last = values.at(-1)
    if (last === undefined) continue
    query[name] = 'type' in schema && schema.type === 'array' ? values : convert(last, schema)
  }
  return query
}

function readMap(raw: RawQuery, name: string): Array<[key: string, value: string]> {
  return Object.entries(raw).flatMap(([given, value]): Array<[string, string]> => {
    const key = given.startsWith(`${name}[`) && given.endsWith(']') ? given.slice(name.length + 1, -1) : ''
    const last = [value ?? []].flat().at(-1) ?? ''
    return key === '' || last === '' ? [] : [[key, last]]
  })
}

function convert(text: string, schema: TSchema): unknown {
  const type = 'type' in schema ? schema.type : 'string'
  if (type === 'boolean') {
    const lower = text.toLowerCase()
    return lower === 'true' || lower === '1' ? true : lower === 'false' || lower === '0' ? false : text
  }
  if (type === 'integer' || type === 'number') return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text
  return text
}
