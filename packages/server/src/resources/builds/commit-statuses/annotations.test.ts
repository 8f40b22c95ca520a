import { describe, expect, it } from 'vitest'
import { annotationsOf, mostAnnotations } from './annotations.ts'

const places = (...rows: string[]) =>
  annotationsOf([{ job: 'Tests', rows, failing: null }], 'acme/app').map(
    ({ path, start_line }) => `${path}:${start_line}`,
  )

describe('annotationsOf', () => {
  it.each([
    ['src/a.ts:12:5 - error TS2322: Type', 'src/a.ts:12'],
    ['src/a.ts(12,5): error TS2322: Type', 'src/a.ts:12'],
    ['main.c:3: error: expected ;', 'main.c:3'],
    ['    at Object.<anonymous> (./src/a.test.ts:7:9)', 'src/a.test.ts:7'],
    ['  File "app/models.py", line 40, in save', 'app/models.py:40'],
    ['   --> crates/x/src/lib.rs:4:5', 'crates/x/src/lib.rs:4'],
    ['    /var/builds/agent-1/acme/app/lib/x.rb:9:in `x`', 'lib/x.rb:9'],
  ])('finds the place in %s', (row, place) => {
    expect(places(row)).toEqual([place])
  })

  it.each([
    'db.example.com:5432: connection refused',
    'http://127.0.0.1:8080/a.js:1',
    'at /usr/lib/python3/x.py:3',
    '../other/a.ts:3:1',
    'a/../../etc/a.ts:3:1',
    'node_modules/x/index.js:3:1',
    'src/a.ts:0:1',
    'src/a.ts:99999999999999999999',
    `${'a/'.repeat(200)}a.ts:1:1`,
    '12:30:01 started',
    '',
  ])('finds none in %j', (row) => {
    expect(places(row)).toEqual([])
  })

  it('begins with the failing row, says it with the others, and names each place once', () => {
    const failing = 'Error: src/a.ts:2:1 is wrong'
    const rows = ['  at f (src/b.ts:5:1)', failing, '  at g (src/a.ts:2:9)']
    expect(annotationsOf([{ job: 'Tests', rows, failing }], 'acme/app')).toEqual([
      expect.objectContaining({ path: 'src/a.ts', start_line: 2, end_line: 2, message: failing }),
      expect.objectContaining({
        path: 'src/b.ts',
        start_line: 5,
        title: 'Tests',
        message: `${failing}\nat f (src/b.ts:5:1)`,
      }),
    ])
  })

  it('has a few of each job, and no more than GitHub takes', () => {
    const jobs = Array.from({ length: 20 }, (_, job) => ({
      job: `Job ${job}`,
      rows: Array.from({ length: 100 }, (__, line) => `src/${job}.ts:${line + 1}:1`),
      failing: null,
    }))
    const all = annotationsOf(jobs, 'acme/app')
    expect(all).toHaveLength(mostAnnotations)
    expect(all.filter(({ title }) => title === 'Job 0')).toHaveLength(10)
  })
})
