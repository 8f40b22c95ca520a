import { describe, expect, it } from 'vitest'
import { baseUrl, useApp } from '../../../test/app.ts'
import { aMember, anOrganization, aToken } from '../../../test/builders.ts'
import { graphqlId, newId } from '../../lib/ids.ts'

const app = useApp()

describe('GET /v2/user', () => {
  it('answers with the owner of the token', async () => {
    const user = await aMember(app, await anOrganization(app), { name: 'Ada Lovelace' })
    const answer = await app.request('GET', '/v2/user', { token: user.token })
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      id: user.id,
      graphql_id: graphqlId('User', user.id),
      name: 'Ada Lovelace',
      email: user.email,
      avatar_url: `${baseUrl}/avatars/${user.id}`,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    })
  })

  it('answers 403 to a token without the read_user scope', async () => {
    const user = await aMember(app, await anOrganization(app))
    const token = await aToken(app, user, { scopes: ['read_organizations'] })
    const answer = await app.request('GET', '/v2/user', { token })
    expect(answer.status).toBe(403)
    expect(answer.body).toEqual({ message: "Your access token doesn't have the read_user scope" })
  })
})

describe('GET /avatars/{user.uuid}', () => {
  it('answers an image at avatar_url, without a token', async () => {
    const user = await aMember(app, await anOrganization(app))
    const { avatar_url: url } = (await app.request('GET', '/v2/user', { token: user.token })).body
    const answer = await app.request('GET', String(url).slice(baseUrl.length))
    expect(answer.status).toBe(200)
    expect(answer.text).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" .*<\/svg>$/)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'image/svg+xml',
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      'cache-control': 'public, max-age=86400',
    })
  })

  it('renders the same image for the same id and does not reveal whether the user exists', async () => {
    const id = newId()
    const images = await Promise.all(
      [id, id.toUpperCase(), newId()].map((each) => app.request('GET', `/avatars/${each}`)),
    )
    expect(images.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(images[0].text).toBe(images[1].text)
    expect(images[0].text).not.toBe(images[2].text)
  })

  it('answers 404 to what is not a UUID', async () => {
    const answer = await app.request('GET', '/avatars/%3Cscript%3E')
    expect(answer.status).toBe(404)
    expect(answer.body).toEqual({ message: 'No user found' })
  })
})
