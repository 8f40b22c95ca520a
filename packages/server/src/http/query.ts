// Reads query strings leniently, as public clients write them: unknown keys are ignored, booleans may have any case,
// lists are `name=a`, `name=a&name=b` or `name[]=a`, maps are `name[key]=a`, and an empty value counts as absent.
import type { TSchema } from 'typebox'

export type RawQuery = Record<string, string | string[] | undefined>

/** The path of a URL as in the request line. */
export function pathOf(url: string): string {
  const end = url.indexOf('?')
  return end === -1 ? url : url.slice(0, end)
}

/** Converts the declared parameters to the types of their schemas. A value that cannot be converted stays a string. */
export function queryReader(properties: Record<string, TSchema>): (raw: RawQuery) => Record<string, unknown> {
  const declared = Object.entries(properties).map(([name, schema]) => ({
    name,
    listName: `${name}[]`,
    schema,
    type: 'type' in schema ? schema.type : undefined,
  }))
  return (raw) => {
    const query: Record<string, unknown> = {}
    for (const { name, listName, schema, type } of declared) {
      if (type === 'object') {
        const entries = readMap(raw, name)
        if (entries.length > 0) query[name] = Object.fromEntries(entries)
        continue
      }
      const [given, listed] = [raw[name], raw[listName]]
      if (given === undefined && listed === undefined) continue
      const values = [given ?? [], listed ?? []].flat().filter((value) => value !== '')
      const last = values.at(-1)
      if (last !== undefined) query[name] = type === 'array' ? values : convert(last, schema)
    }
    return query
  }
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
