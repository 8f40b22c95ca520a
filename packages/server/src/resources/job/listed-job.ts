// Jobs of several pipelines in one list. Each has the names of its pipeline and its build.
import { sql, type RawBuilder } from 'kysely'
import { bare, escaped, object, text, word } from '../../db/json-text.ts'
import { jobJson } from './job-json.ts'

const pipelineAndBuild = object({
  pipeline: object({ name: text(sql`p.name`), slug: word(sql`p.slug`) }),
  build: object({ number: bare(sql`b.number`), message: text(sql`b.message`) }),
})

/** For queries with `jobsInBuilds`: a job with listedJobFields, as JSON text. `url` is the installation's address. */
export const listedJobJson = (url: string): RawBuilder<string> =>
  sql`left(${pipelineAndBuild}, -1) || ',' || substr(${jobJson(escaped(url))}, 2)`
