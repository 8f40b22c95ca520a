import pg from 'pg'
import { expect, it } from 'vitest'
import { databaseUrl } from '../millrace.ts'
import { signIn, visit, withBrowser } from './browser.ts'
import { anOrganization } from './new-organization.ts'

const count = 1000

withBrowser.describe('a thousand pipelines', () => {
  it('are listed after at most three calls of the API for pipelines', async () => {
    const { server, slug, admin } = await anOrganization()
    await insertPipelines(databaseUrl(server), slug)
    const tab = await visit()
    const calls: string[] = []
    tab.page.on('request', (request) => {
      const { pathname } = new URL(request.url())
      if (/^\/v2\/organizations\/[^/]+\/pipeline/.test(pathname)) calls.push(pathname)
    })
    await signIn(tab, { url: server.url, token: admin }, `/${slug}`)
    await tab.page.locator(`ul[aria-label=Pipelines] li[aria-setsize="${count}"]`).first().waitFor()
    await tab.page.getByLabel('Filter by name').fill('Service 999')
    await tab.page.getByRole('link', { name: 'Service 999' }).waitFor()
    expect(calls.length).toBeLessThanOrEqual(3)
    expect(tab.complaints).toEqual([])
  })
})

async function insertPipelines(database: string, slug: string): Promise<void> {
  const client = new pg.Client({ connectionString: database })
  await client.connect()
  try {
    await client.query(
      `insert into pipelines (id, organization_id, cluster_id, slug, name, repository, configuration, webhook_token, badge_token, created_by)
      select gen_random_uuid(), o.id, (select c.id from clusters c where c.organization_id = o.id limit 1), 'service-' || n,
        'Service ' || n, 'https://git.example.com/a.git', 'steps: [{command: "true"}]', gen_random_uuid(), gen_random_uuid(),
        (select m.user_id from organization_members m where m.organization_id = o.id limit 1)
      from organizations o, generate_series(1, $2::int) n where o.slug = $1`,
      [slug, count],
    )
  } finally {
    await client.end()
  }
}
