// A new table needs an answer to the question what ends its rows.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const read = (path: string) => readFileSync(new URL(`../../../../../../${path}`, import.meta.url), 'utf8')

const tables = [...read('packages/server/schema.sql').matchAll(/^create (?:unlogged )?table (\w+)/gm)].map(
  ([, name]) => name,
)

const answers = [...read('docs/retention.md').matchAll(/^\| `(\w+)` \| (.*) \|$/gm)].filter(
  ([, , answer]) => !answer?.includes('|'),
)

describe('docs/retention.md', () => {
  it('says for every table of schema.sql, and for no other, what ends its rows', () => {
    expect(tables.length).toBeGreaterThan(80)
    expect(answers.map(([, name]) => name).toSorted()).toEqual(tables.toSorted())
  })
})
