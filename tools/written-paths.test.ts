// The pages for people who change the code name files. They are moved more often than pages are read.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const internals = readdirSync(join(root, 'docs/internals')).map((name) => `docs/internals/${name}`)
const pages = [
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'docs/abuse-cases.md',
  'docs/threat-model.md',
  ...internals,
]

/** A path begins at the top, at the packages, or in the sources of the server. */
const exists = (path: string) =>
  ['', 'packages', 'packages/server', 'packages/server/src'].some((folder) =>
    existsSync(join(root, folder, path)),
  )

describe('paths of sources', () => {
  it.each(pages)('in %s exist', (page) => {
    const text = readFileSync(join(root, page), 'utf8')
    const written = [...text.matchAll(/`([\w.-]+(?:\/[\w.-]+)+\.(?:tsx?|mjs|sql))`/g)].map(([, path]) =>
      String(path),
    )
    expect(written.filter((path) => !exists(path))).toEqual([])
  })
})
