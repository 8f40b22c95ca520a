import { describe, expect, it } from 'vitest'
import { findEntries, foundEntries, pageEntries, withKeys } from './palette-entries.ts'

const context = { org: 'acme', pipeline: 'demo', found: [] }

describe('the palette', () => {
  it('finds pages by any of their words, in any order and case', () => {
    const titles = findEntries(pageEntries('acme', null), 'QUEUES clus', context).map(({ title }) => title)
    expect(titles).toEqual(['Clusters and queues'])
  })

  it('leads from a number to that build of the pipeline on screen', () => {
    expect(findEntries([], '#12', context)).toMatchObject([{ to: '/acme/demo/builds/12' }])
    expect(findEntries([], '#12', { ...context, pipeline: null })).toEqual([])
  })

  it('finds pages and pipelines also where the page has many actions', () => {
    const actions = Array.from({ length: 20 }, (_, at) => ({
      id: `key ${at}`,
      title: `Action ${at} of the build`,
      icon: 'zap' as const,
    }))
    const found = foundEntries([
      { type: 'pipeline', title: 'Builder', subtitle: null, web_url: 'https://ci.example.com/acme/builder' },
    ])
    const own = [...actions, ...pageEntries('acme', null)]
    const typed = findEntries(own, 'build', { ...context, found }).map(({ title }) => title)
    expect(typed.slice(0, 8)).toEqual(expect.arrayContaining(['Action 0 of the build', 'Builds', 'Builder']))
    expect(typed).toContain('Action 19 of the build')
    const untyped = findEntries(own, '', context).map(({ title }) => title)
    expect(untyped.slice(0, 10)).toEqual(expect.arrayContaining(['Action 0 of the build', 'Builds']))
  })

  it('offers no page of an organization where there is none', () => {
    expect(pageEntries(null, null).map(({ to }) => to)).toEqual([
      '/-/me',
      '/-/me/tokens',
      '/-/me/programs',
      '/-/me/sessions',
    ])
  })

  it('offers no page that would be refused', () => {
    const may = {
      create_pipelines: false,
      administer: false,
      view_teams: false,
      manage_services: false,
      view_audit_log: false,
    }
    const offered = (rights: typeof may) => pageEntries('acme', rights).map(({ title }) => title)
    const titles = ['New pipeline', 'Settings: General']
    expect(offered(may)).not.toEqual(expect.arrayContaining([expect.stringMatching(/^New|General/)]))
    expect(offered({ ...may, create_pipelines: true, administer: true })).toEqual(
      expect.arrayContaining(titles),
    )
  })

  it('names the keys that lead to a page', () => {
    const entry = { id: 'a', title: 'Builds', icon: 'list', to: '/organizations/acme/builds' } as const
    const action = { keys: 'g b', label: 'Builds', to: entry.to, run() {} }
    expect(withKeys(entry, [action]).keys).toBe('g b')
    expect(withKeys(entry, []).keys).toBeUndefined()
  })

  it('adds what the server found, each page once', () => {
    const found = foundEntries([
      {
        type: 'build',
        title: 'Demo #12',
        subtitle: 'Fix it',
        web_url: 'https://ci.example.com/acme/demo/builds/12',
      },
      {
        type: 'build',
        title: 'Api #12',
        subtitle: null,
        web_url: 'https://ci.example.com/acme/api/builds/12',
      },
    ])
    expect(found[0]).toMatchObject({ title: 'Demo #12', subtitle: 'Build, Fix it' })
    expect(findEntries([], '12', { ...context, found }).map(({ to }) => to)).toEqual([
      '/acme/demo/builds/12',
      '/acme/api/builds/12',
    ])
  })
})
