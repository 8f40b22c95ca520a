import { sql } from 'kysely'
import { afterAll, describe, expect, it } from 'vitest'
import { useApp, useOwnApp } from '../../../../test/app.ts'
import { anAdmin, anOrganization, unique } from '../../../../test/builders.ts'
import { aMailServer } from '../../../../test/remote-hosts/mail-server.ts'
import type { Kinds } from '../../../tasks/kinds.ts'
import { handlers } from '../../../worker.ts'

const smtp = await aMailServer({ user: 'builds', password: 'secret' })
afterAll(() => smtp.close())
const app = useOwnApp({ env: { MILLRACE_SMTP_URL: smtp.url, MILLRACE_MAIL_FROM: 'ci@example.com' } })
const silent = useApp()

const tasksOf = async (server: typeof app, email: string) => {
  const { rows } = await sql<{ payload: Kinds['send_invitation'] }>`
    select j.payload from graphile_worker._private_jobs j
    join organization_invitations i on i.id = (j.payload ->> 'invitation_id')::uuid
    where i.email = ${email}`.execute(server.db)
  return rows.map(({ payload }) => payload)
}

async function anInvitation(server = app) {
  const org = await anOrganization(server, { name: 'Mills <Co>' })
  const admin = await anAdmin(server, org, { name: 'Grace Admin' })
  const email = `${unique('guest')}@example.com`
  const answer = await server.request('POST', `${org.path}/invitations`, {
    token: admin.token,
    body: { emails: [email] },
  })
  const [made] = answer.list
  return { org, admin, email, id: String(made?.id), url: String(made?.accept_url) }
}

const decoded = (source: string) => source.replaceAll('=\r\n', '').replaceAll('=3D', '=')

describe('an invitation', () => {
  it('is mailed with its link, whose code is sealed until then', async () => {
    const { email, url } = await anInvitation()
    const [payload] = await tasksOf(app, email)
    if (payload === undefined) throw new Error('There is no task.')
    expect(JSON.stringify(payload)).not.toContain(url.split('/').at(-1))
    await handlers.send_invitation(app.ctx, payload)
    const mail = smtp.mails.find(({ to }) => to.includes(email))
    expect(mail?.source).toContain('Subject: Invitation to Mills <Co>')
    expect(decoded(mail?.source ?? '')).toContain(url)
    expect(decoded(mail?.source ?? '')).toContain('Mills &#60;Co&#62;')
  })

  it('is not mailed after it was revoked', async () => {
    const { org, admin, email, id } = await anInvitation()
    await app.request('DELETE', `${org.path}/invitations/${id}`, { token: admin.token })
    const [payload] = await tasksOf(app, email)
    if (payload === undefined) throw new Error('There is no task.')
    await handlers.send_invitation(app.ctx, payload)
    expect(smtp.mails.filter(({ to }) => to.includes(email))).toEqual([])
  })

  it('is not mailed where the operator has named no mail server', async () => {
    const { email } = await anInvitation(silent)
    expect(await tasksOf(silent, email)).toEqual([])
  })
})
