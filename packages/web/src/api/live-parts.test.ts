import { QueryClient } from '@tanstack/react-query'
import { describe, expect, it } from 'vitest'
import type { ShortBuild } from './live-changes.ts'
import { CursorHistory } from './live-cursors.ts'
import { patchBuilds, patchTrend } from './live-patch.ts'
import { Wants } from './live-wants.ts'

const aBuild = (changes: Partial<ShortBuild>): ShortBuild => ({
  id: 'b1',
  pipeline_id: 'p',
  pipeline_slug: 'demo',
  number: 1,
  state: 'running',
  blocked: false,
  message: 'Hello',
  branch: 'main',
  commit: 'HEAD',
  created_at: 0,
  started_at: 1000,
  finished_at: null,
  worked_before_seconds: 0,
  ...changes,
})

const changesOf = (...builds: ShortBuild[]) => new Map(builds.map((build) => [build.id, build]))

describe('patchBuilds', () => {
  it('writes the newest state into lists and into the build, and keeps the rows in place', () => {
    const client = new QueryClient()
    const one = ['GET /v2/organizations/{org}/pipelines/{pipeline}/builds/{build}', {}, {}]
    const list = ['GET /v2/organizations/{org}/builds', {}, {}, 'pages']
    client.setQueryData(one, { id: 'b1', state: 'scheduled', env: {} })
    client.setQueryData(list, {
      pages: [
        {
          rows: [
            { id: 'b0', state: 'passed' },
            { id: 'b1', state: 'scheduled' },
          ],
        },
      ],
    })
    const isMissing = patchBuilds(client, changesOf(aBuild({ finished_at: 2000, state: 'passed' })))
    expect(isMissing).toBe(false)
    expect(client.getQueryData(one)).toMatchObject({
      state: 'passed',
      env: {},
      finished_at: '1970-01-01T00:00:02.000Z',
    })
    const { pages } = client.getQueryData<{ pages: Array<{ rows: Array<{ id: string; state: string }> }> }>(
      list,
    ) ?? {
      pages: [],
    }
    expect(pages[0]?.rows.map(({ id, state }) => [id, state])).toEqual([
      ['b0', 'passed'],
      ['b1', 'passed'],
    ])
  })

  it('tells when a list does not have the build', () => {
    const client = new QueryClient()
    client.setQueryData(['GET /v2/organizations/{org}/builds', {}, {}], [{ id: 'b0' }])
    expect(patchBuilds(client, changesOf(aBuild({})))).toBe(true)
  })
})

it('adds the bar of a new build and changes the bar of a known one', () => {
  const bar = { number: 1, state: 'running', blocked: false, seconds: null }
  const trend = { pipeline_id: 'p', builds: [bar] }
  const changed = patchTrend(
    trend,
    changesOf(aBuild({ state: 'failed', finished_at: 3000 }), aBuild({ id: 'b2', number: 2 })),
  )
  expect(changed.builds).toMatchObject([
    { number: 1, state: 'failed', seconds: 2 },
    { number: 2, state: 'running', seconds: null },
  ])
  expect(patchTrend({ ...trend, pipeline_id: 'other' }, changesOf(aBuild({}))).builds).toEqual([bar])
})

it('finds the place of the stream before a snapshot', () => {
  const history = new CursorHistory()
  expect([history.last, history.before(5)]).toEqual([null, null])
  history.add('a', 10)
  history.add('b', 20)
  expect(history.last).toBe('b')
  expect(history.before(9)).toBeNull()
  expect(history.before(15)?.cursor).toBe('a')
  expect(history.before(20)?.cursor).toBe('b')
})

describe('Wants', () => {
  const build = (id: string, sinceMs = 0) => ({ id, sinceMs, cursor: '' })

  it('takes the builds of visible tabs first, and eight at most', () => {
    const wants = new Wants()
    wants.set({
      tab: 'hidden',
      isVisible: false,
      atMs: 5,
      builds: Array.from({ length: 8 }, (_, at) => build(`h${at}`)),
    })
    wants.set({ tab: 'visible', isVisible: true, atMs: 1, builds: [build('v')] })
    const chosen = wants.choose(10).map(({ id }) => id)
    expect(chosen).toHaveLength(8)
    expect(chosen[0]).toBe('v')
  })

  it('knows the least that any tab knows of a build', () => {
    const wants = new Wants()
    wants.set({ tab: 'a', isVisible: true, atMs: 1, builds: [build('x', 50)] })
    wants.set({ tab: 'b', isVisible: true, atMs: 2, builds: [build('x', 20)] })
    expect(wants.choose(10)).toEqual([build('x', 20)])
  })

  it('forgets tabs that left or are silent', () => {
    const wants = new Wants()
    wants.set({ tab: 'a', isVisible: true, atMs: 0, builds: [build('x')] })
    wants.set({ tab: 'b', isVisible: true, atMs: 0, builds: [build('y')] })
    wants.remove('a')
    expect(wants.choose(1).map(({ id }) => id)).toEqual(['y'])
    expect(wants.choose(200_000)).toEqual([])
  })
})
