// A program that a person lets act for them, as programs without a browser ask for it (RFC 8628).
import type { Page } from 'playwright-core'
import { eventually, type Client, type Json } from '../millrace.ts'

const grant = 'urn:ietf:params:oauth:grant-type:device_code'

/** `page` is one of the person, who is signed in. Returns the token of the program. */
export async function connectProgram(
  page: Page,
  { url }: Pick<Client, 'url'>,
  name: string,
): Promise<string> {
  const ask = async (path: string, init: RequestInit): Promise<Json> =>
    (await (await fetch(url + path, { method: 'POST', ...init })).json()) as Json
  const registered = await ask('/-/oauth/register', {
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ client_name: name, grant_types: [grant] }),
  })
  const client = String(registered['client_id'])
  const device = await ask('/-/oauth/device_authorization', {
    body: new URLSearchParams({ client_id: client, scope: 'read_builds read_organizations read_pipelines' }),
  })
  await page.goto(`${url}/-/device`)
  await page.getByLabel('Code').fill(String(device['user_code']))
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: 'Allow' }).click()
  await page.getByRole('heading', { name: /is connected$/ }).waitFor()
  return eventually('the program has a token', async () => {
    const body = new URLSearchParams({
      grant_type: grant,
      client_id: client,
      device_code: String(device['device_code']),
    })
    const token = (await ask('/-/oauth/token', { body }))['access_token']
    return token === undefined ? false : String(token)
  })
}
