import { describe, expect, it } from 'vitest'
import { baseUrl, useApp } from '../../../../test/app.ts'
import { aMember, anOrganization, aToken } from '../../../../test/builders.ts'

const app = useApp()

describe('GET /v2/organizations/{org.slug}/emojis', () => {
  it('lists all emojis, unpaged, to any member with any token', async () => {
    const org = await anOrganization(app)
    const token = await aToken(app, await aMember(app, org), { scopes: [] })
    const answer = await app.request('GET', `${org.path}/emojis?per_page=1`, { token })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('link')).toBeNull()
    expect(answer.list.length).toBeGreaterThan(1800)
    expect(answer.list).toContainEqual({ name: 'rocket', url: `${baseUrl}/emojis/rocket.svg` })
    expect(answer.list).toContainEqual({
      name: '+1',
      url: `${baseUrl}/emojis/%2B1.svg`,
      aliases: ['thumbsup'],
    })
    const names = answer.list.map(({ name }) => String(name))
    expect(names.filter((name) => !/^[\w+-]+$/.test(name))).toEqual([])
    expect(new Set(names).size).toBe(names.length)
  })

  it('answers 404 to those outside the organization', async () => {
    const stranger = await aMember(app, await anOrganization(app))
    const org = await anOrganization(app)
    expect((await app.request('GET', `${org.path}/emojis`, { token: stranger.token })).status).toBe(404)
  })
})

describe('GET /emojis/{name}.svg', () => {
  it.each([
    ['rocket', '🚀'],
    ['%2B1', '👍'],
    ['+1', '👍'],
    ['thumbsup', '👍'],
    ['e-mail', '📧'],
    ['jest', '🃏'],
    ['robot_face', '🤖'],
    ['flag-de', '🇩🇪'],
    ['sidekiq', 'Ⓢ'],
  ])('renders %s as %s, without a token', async (name, character) => {
    const answer = await app.request('GET', `/emojis/${name}.svg`)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('image/svg+xml')
    expect(answer.headers.get('content-security-policy')).toBe("default-src 'none'; sandbox")
    expect(answer.text).toContain(`>${character}</text>`)
  })

  it.each(['no-such-emoji', 'constructor', '__proto__', '%3Cscript%3E', '..%2F..%2Fetc%2Fpasswd'])(
    'answers 404 to %s',
    async (name) => {
      const answer = await app.request('GET', `/emojis/${name}.svg`)
      expect(answer.status).toBe(404)
      expect(answer.body).toEqual({ message: 'No emoji found' })
    },
  )
})
