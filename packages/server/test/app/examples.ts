// While `npm run examples` runs, the responses that tests receive become candidates for the examples in the OpenAPI
// document.
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Candidate {
  /** `GET /v2/organizations/:org` */
  endpoint: string
  status: number
  /** The URL's parameters. The examples show plainer values instead. */
  params: Record<string, string>
  body: unknown
}

const folder = process.env['MILLRACE_EXAMPLES_DIR']

const longest = 20_000

export function offerExample(candidate: Candidate): void {
  if (folder === undefined) return
  // The example of a list has one entry.
  const line = JSON.stringify(candidate, (_key, value: unknown) =>
    Array.isArray(value) ? value.slice(0, 1) : value,
  )
  if (line.length <= longest) appendFileSync(join(folder, 'candidates'), `${line}\n`)
}
