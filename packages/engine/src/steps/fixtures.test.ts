import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { formatProblem } from './format-problem.ts'
import { readPipelines } from './document.ts'

const folder = new URL('../../fixtures/pipelines/', import.meta.url)
const files = readdirSync(folder).filter((name) => name.endsWith('.yml'))
const env = (name: string) => ({ BUILDKITE_COMMIT: 'f'.repeat(40), BUILDKITE_BRANCH: 'main' })[name]

describe('pipelines as people write them', () => {
  it('are at least thirty', () => {
    expect(files.length).toBeGreaterThanOrEqual(30)
  })

  it.each(files)('%s reads without a problem', (name) => {
    const text = readFileSync(new URL(name, folder), 'utf8')
    const read = readPipelines(text, { origin: 'upload', maxBytes: 1024 * 1024, interpolateWith: env })
    expect(read.ok ? [] : read.problems.map((problem) => formatProblem(name, text, problem))).toEqual([])
    const warnings = read.ok ? read.warnings.map(({ message }) => message) : []
    expect(warnings.filter((message) => !message.includes('comes-by-upload'))).toEqual([])
  })
})
