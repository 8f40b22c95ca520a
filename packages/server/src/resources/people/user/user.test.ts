import { describe, expect, it } from 'vitest'
import { baseUrl, useApp } from '../../../../test/app.ts'
import { aBrowser } from '../../../../test/browser.ts'
import { aMember, anOrganization, aToken, tokenId } from '../../../../test/builders.ts'
import { aSession, withPassword } from '../../../../test/sessions.ts'
import { graphqlId, newId } from '../../../lib/ids.ts'

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

describe('PATCH /v2/user', () => {
  it('changes the name, which the next request shows', async () => {
    const user = await aMember(app, await anOrganization(app))
    const answer = await app.request('PATCH', '/v2/user', {
      token: user.token,
      body: { name: ' Grace Hopper ' },
    })
    expect([answer.status, answer.body.name]).toEqual([200, 'Grace Hopper'])
    expect((await app.request('GET', '/v2/user', { token: user.token })).body.name).toBe('Grace Hopper')
  })

  it('is refused to a caller who does not reach every organization of the user', async () => {
    const org = await anOrganization(app)
    const user = await aMember(app, org)
    const rename = async () => {
      const headers = await aSession(app, user, { how: 'sso', organizationId: org.id })
      return (await app.request('PATCH', '/v2/user', { headers, body: { name: 'Grace' } })).status
    }
    expect(await rename()).toBe(200)
    const { id: organization_id } = await anOrganization(app)
    const membership = { organization_id, user_id: user.id, role: 'member' }
    await app.db.insertInto('organization_members').values(membership).execute()
    expect(await rename()).toBe(403)
  })

  it('refuses a blank or long name, and a token without write_user', async () => {
    const user = await aMember(app, await anOrganization(app))
    for (const body of [{}, { name: ' ' }, { name: 'x'.repeat(201) }, { name: 1 }]) {
      expect((await app.request('PATCH', '/v2/user', { token: user.token, body })).status).toBe(422)
    }
    const token = await aToken(app, user, { scopes: ['read_user'] })
    expect((await app.request('PATCH', '/v2/user', { token, body: { name: 'Ada' } })).status).toBe(403)
  })
})

describe('PUT /v2/user/password', () => {
  const path = '/v2/user/password'
  const aPerson = async () => {
    const person = await aMember(app, await anOrganization(app))
    await withPassword(app, person, 'the old password')
    return person
  }
  const change = { current_password: 'the old password', new_password: 'the new password' }

  it('changes the password and ends the other sessions', async () => {
    const person = await aPerson()
    const headers = await aSession(app, person)
    const elsewhere = await aSession(app, person)
    expect((await app.request('GET', '/v2/user', { headers: elsewhere })).status).toBe(200)
    expect((await app.request('PUT', path, { headers, body: change })).status).toBe(204)
    expect((await app.request('GET', '/v2/user', { headers })).status).toBe(200)
    expect((await app.request('GET', '/v2/user', { headers: elsewhere })).status).toBe(401)
    expect((await aBrowser(app).signInWithPassword(person.email, 'the old password')).status).toBe(422)
    expect((await aBrowser(app).signInWithPassword(person.email, 'the new password')).status).toBe(200)
  })

  it('refuses access tokens, and sessions that one opened', async () => {
    const person = await aPerson()
    expect((await app.request('PUT', path, { token: person.token, body: change })).status).toBe(403)
    const accessTokenId = await tokenId(app, person.token)
    const session = await aSession(app, person, { how: 'token', accessTokenId })
    const answer = await app.request('PUT', path, { headers: session, body: change })
    expect(answer.status).toBe(403)
  })

  it('refuses a wrong current password, ten times in 15 minutes, and a short new one', async () => {
    const person = await aPerson()
    const headers = await aSession(app, person)
    const put = (body: object) => app.request('PUT', path, { headers, body: { ...change, ...body } })
    expect((await put({ new_password: 'short' })).body.message).toBe(
      'The password must have at least 8 characters.',
    )
    for (let tries = 0; tries < 10; tries++) {
      const answer = await put({ current_password: 'a guess' })
      expect([answer.status, answer.body.message]).toEqual([422, 'The current password is wrong.'])
    }
    expect((await put({})).status).toBe(429)
  })

  it('needs no current password within an hour after a sign-in link, and is refused later', async () => {
    const person = await aMember(app, await anOrganization(app))
    const body = { new_password: 'the first password' }
    const late = new Date(Date.now() - 61 * 60_000)
    const old = await aSession(app, person, { how: 'link', now: late })
    const refused = await app.request('PUT', path, { headers: old, body })
    expect([refused.status, refused.body.message]).toEqual([
      422,
      'You have no password yet. Ask the operator for a sign-in link to set one.',
    ])
    const headers = await aSession(app, person, { how: 'link' })
    expect((await app.request('PUT', path, { headers, body })).status).toBe(204)
    expect((await aBrowser(app).signInWithPassword(person.email, 'the first password')).status).toBe(200)
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
