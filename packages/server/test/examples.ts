// Answers that tests get, kept as candidates for the examples of the API's description while `npm run examples` runs.
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Candidate {
  /** `GET /v2/organizations/:org` */
  endpoint: string
  status: number
  /** What stood in the URL, to be replaced by plainer names. */
  params: Record<string, string>
  body: unknown
}

const folder = process.env['MILLRACE_EXAMPLES_DIR']

const longest = 20_000

export function offerExample(candidate: Candidate): void {
  if (folder === undefined) return
  // One entry of a list stands for all.
  const line = JSON.stringify(candidate, (_key, value: unknown) =>
    Array.isArray(value) ? value.slice(0, 1) : value,
  )
  if (line.length <= longest) appendFileSync(join(folder, 'candidates'), `${line}\n`)
}
