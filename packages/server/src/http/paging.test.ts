import { beforeAll, describe, expect, it } from 'vitest'
import { baseUrl, useApp } from '../../test/app.ts'
import { aCluster, anAdmin, anOrganization, type TestOrganization } from '../../test/builders.ts'

const app = useApp()

describe('lists by page number', () => {
  let org: TestOrganization
  let token = ''
  const names: string[] = []
  beforeAll(async () => {
    org = await anOrganization(app)
    const admin = await anAdmin(app, org)
    token = admin.token
    for (let index = 0; index < 5; index++) names.push((await aCluster(app, org, admin)).name)
  })

  const list = async (query: string) => {
    const answer = await app.request('GET', `${org.path}/clusters${query}`, { token })
    expect(answer.status).toBe(200)
    return { names: answer.list.map(({ name }) => name), link: answer.headers.get('link') }
  }
  const at = (query: string) => `${baseUrl}${org.path}/clusters?${query}`

  it('have no links when everything is on one page', async () => {
    expect(await list('')).toEqual({ names, link: null })
  })

  it('have only a next link on the first page', async () => {
    const expected = { names: names.slice(0, 2), link: `<${at('page=2&per_page=2')}>; rel="next"` }
    expect(await list('?per_page=2')).toEqual(expected)
    expect(await list('?page=1&per_page=2')).toEqual(expected)
  })

  it('have first, prev and next in the middle, on one line', async () => {
    expect(await list('?page=2&per_page=2')).toEqual({
      names: names.slice(2, 4),
      link:
        `<${at('page=1&per_page=2')}>; rel="first", <${at('page=1&per_page=2')}>; rel="prev", ` +
        `<${at('page=3&per_page=2')}>; rel="next"`,
    })
  })

  it('have no next on the last page, also when it is full', async () => {
    const expected = `<${at('page=1&per_page=2')}>; rel="first", <${at('page=2&per_page=2')}>; rel="prev"`
    expect(await list('?page=3&per_page=2')).toEqual({ names: names.slice(4), link: expected })
    expect((await list('?per_page=5')).link).toBeNull()
  })

  it('are empty past the end', async () => {
    expect(await list('?page=9&per_page=2')).toEqual({
      names: [],
      link: `<${at('page=1&per_page=2')}>; rel="first", <${at('page=8&per_page=2')}>; rel="prev"`,
    })
    expect((await list('?page=99999999999999999999')).names).toEqual([])
  })

  it('leave out links for which a long query has no room, but never the next one', async () => {
    const relsOf = async (characters: number) => {
      const { link } = await list(`?page=2&per_page=2&x=${'y'.repeat(characters)}`)
      expect(link?.length).toBeLessThan(12_500)
      return link?.match(/(?<=rel=")\w+/g)
    }
    expect(await relsOf(3500)).toEqual(['first', 'prev', 'next'])
    expect(await relsOf(5500)).toEqual(['prev', 'next'])
    expect(await relsOf(11_000)).toEqual(['next'])
    const tooLong = await app.request('GET', `${org.path}/clusters?per_page=2&x=${'y'.repeat(13_000)}`, {
      token,
    })
    expect([tooLong.status, tooLong.body.message]).toEqual([
      400,
      'The query is too long to be repeated in the link to the next page. Shorten it.',
    ])
  })

  it('repeat the caller’s query with sorted keys, and without characters at which clients split the header', async () => {
    const { link } = await list('?z=1&state[]=b%3Bc&state[]=a,b&per_page=4&x=%3Ey%3C&e=%F0%9F%9B%A0&b=%22')
    expect(link).toBe(
      `<${at('b=%22&e=%F0%9F%9B%A0&page=2&per_page=4&state%5B%5D=b%3Bc&state%5B%5D=a%2Cb&x=%3Ey%3C&z=1')}>; rel="next"`,
    )
  })

  it('never end a link with the page number', async () => {
    const { link } = await list('?per_page=1&a=1')
    expect(link).toBe(`<${at('a=1&page=2&per_page=1')}>; rel="next"`)
  })

  it.each([
    ['page=0', 1, 30],
    ['page=-3', 1, 30],
    ['page=x', 1, 30],
    ['page=', 1, 30],
    ['page=2&page=1', 1, 30],
    ['per_page=0', 1, 1],
    ['per_page=-1', 1, 1],
    ['per_page=5000', 1, 100],
    ['per_page=all', 1, 30],
  ])('clamp ?%s', async (query, page, perPage) => {
    const expected = names.slice((page - 1) * perPage, page * perPage)
    expect((await list(`?${query}`)).names).toEqual(expected)
  })

  it('work with a trailing slash and keep it in their links', async () => {
    const answer = await app.request('GET', `${org.path}/clusters/?per_page=4`, { token })
    expect(answer.list).toHaveLength(4)
    expect(answer.headers.get('link')).toBe(`<${baseUrl}${org.path}/clusters/?page=2&per_page=4>; rel="next"`)
  })
})
