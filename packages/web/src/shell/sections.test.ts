import { describe, expect, it } from 'vitest'
import { sections } from './sections.ts'

const marked = (path: string) =>
  sections.filter(({ holds }) => holds('acme').test(path)).map(({ title }) => title)

describe('the navigation', () => {
  it.each([
    ['/acme', 'Pipelines'],
    ['/acme/demo/builds/7', 'Pipelines'],
    ['/organizations/acme/pipelines/new', 'Pipelines'],
    ['/organizations/acme/builds', 'Builds'],
    ['/organizations/acme/log-search', 'Logs'],
    ['/organizations/acme/insights', 'Insight'],
    ['/organizations/acme/analytics/suites/unit/tests/1', 'Tests'],
    ['/organizations/acme/clusters/1/queues/2', 'Agents'],
    ['/organizations/acme/settings/teams/1', 'Settings'],
  ])('marks for %s only %s', (path, title) => {
    expect(marked(path)).toEqual([title])
  })

  it.each(['/-/me', '/acme-2', '/organizations/acme-2/builds'])('marks nothing for %s', (path) => {
    expect(marked(path)).toEqual([])
  })

  it('marks the page that each link leads to', () => {
    for (const { title, path } of sections) expect(marked(path('acme'))).toEqual([title])
  })
})
