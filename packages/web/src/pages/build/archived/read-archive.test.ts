import { expect, it } from 'vitest'
import { linkOf, nameOf, readableLogs } from './read-archive.ts'

it('offers the logs that are kept, and none once retention has deleted those of the archive', () => {
  const logs = [
    { job_id: 'a', size: 4, deleted: false, url: '' },
    { job_id: 'b', size: 9, deleted: true, url: '' },
  ]
  expect([...readableLogs({ logs, logs_count: 1 })]).toEqual([['a', 4]])
  expect([...readableLogs({ logs, logs_count: 0 })]).toEqual([])
})

it('links a file in a store of its own, and nothing that a browser would run', () => {
  expect(linkOf({ external_url: 'https://files.example.com/a' })).toBe('https://files.example.com/a')
  expect(linkOf({ external_url: 'javascript:alert(1)' })).toBeNull()
  expect(linkOf({ external_url: null })).toBeNull()
})

it('names a job without a name after its step', () => {
  const step = { id: 's', kind: 'block', label: 'Ship it?' } as const
  const more = { key: null, group_id: null, parallelism: null, matrix: false, command: null }
  const steps = new Map([['s', { ...step, ...more }]])
  const job = { name: null, command: null, step: { id: 's', signature: null } }
  expect(nameOf(job, steps)).toBe('Ship it?')
  expect(nameOf({ ...job, command: 'make test\nmake' }, new Map())).toBe('make test')
  expect(nameOf(job, new Map())).toBe('Job')
})
