import { describe, expect, it } from 'vitest'
import { findEntries, foundEntries, pageEntries } from './palette-entries.ts'

const context = { org: 'acme', pipeline: 'demo', found: [] }

describe('the palette', () => {
  it('finds pages by any of their words, in any order and case', () => {
    const titles = findEntries(pageEntries('acme'), 'QUEUES clus', context).map(({ title }) => title)
    expect(titles).toEqual(['Clusters and queues'])
  })

  it('leads from a number to that build of the pipeline on screen', () => {
    expect(findEntries([], '#12', context)).toMatchObject([{ to: '/acme/demo/builds/12' }])
    expect(findEntries([], '#12', { ...context, pipeline: null })).toEqual([])
  })

  it('offers no page of an organization where there is none', () => {
    expect(pageEntries(null).map(({ to }) => to)).toEqual(['/-/me/tokens', '/-/me/sessions'])
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
