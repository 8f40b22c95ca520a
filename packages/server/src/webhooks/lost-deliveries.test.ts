// Random pushes whose deliveries are lost, late, doubled or in another order, while servers restart and poll. Every commit that
// a delivery named, or that was at the end of a branch when the repository was polled, is built once, and no other is. A
// failure shows the history of the branches.
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { eventually, startApp, type TestApp } from '../../test/app.ts'
import { aCluster, anAdmin, anOrganization } from '../../test/builders.ts'
import { deliver, giteaEvent, noCommit, type TestDelivery } from '../../test/deliveries.ts'
import { aGitHost, type TestGitHost } from '../../test/remote-hosts/git-host.ts'
import { pollDue } from '../../test/polls.ts'

const pushes = 150
const names = ['main', 'feature', 'fix/one', 'release-1']

let now = new Date()
const options = { now: () => now, env: { MILLRACE_OUTBOUND_ALLOW: '127.0.0.0/8' } }
let owner: TestApp
let host: TestGitHost
beforeAll(async () => {
  owner = await startApp(options)
  host = await aGitHost()
})
afterAll(async () => {
  await host.close()
  await owner.close()
})

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

it.each([1, 5, 7])(
  'builds each commit that was shown once, whatever becomes of deliveries (seed %i)',
  async (seed) => {
    const random = randomOf(seed)
    const pick = <T>(values: readonly [T, ...T[]]): T =>
      values[Math.floor(random() * values.length)] ?? values[0]
    const branches = names.slice(0, pick([1, 2, 4])) as [string, ...string[]]
    const disorder = pick([0.1, 0.5])
    const org = await anOrganization(owner)
    const admin = await anAdmin(owner, org)
    await aCluster(owner, org, admin)
    const repository = await host.aRepository(`app-${seed}`)
    const made = await owner.request('POST', `${org.path}/pipelines`, {
      token: admin.token,
      body: {
        name: 'Pushed',
        repository: repository.json.clone_url,
        configuration: 'steps: [{ command: make }]',
      },
    })
    const id = String(made.body.id)
    let server = await startApp(options, owner.database)
    const send = async (delivery: TestDelivery) => {
      const answer = await deliver(server, { id }, delivery)
      const { ref, before, after } = delivery.body as Partial<Record<string, string>>
      history.push(`${ref} ${before} ${after}: ${answer.status} ${answer.body.message}`)
      expect([answer.status, answer.text]).toEqual([200, expect.anything()])
    }
    const heads = new Map<string, string>()
    const shown = new Set<string>()
    const history: string[] = []
    const reconcile = async (minutes = 12) => {
      now = new Date(now.getTime() + minutes * 60_000)
      const at = now.toISOString()
      // A poll that finds its row locked by a delivery is left for later, and a busy machine may not answer in time.
      await eventually('the repository is polled', async () => {
        await sql`
          update pipeline_polls set next_poll_at = ${at} where pipeline_id = ${id}`.execute(owner.db)
        await pollDue(server.ctx)
        const { rows } = await sql`
          select from pipeline_polls where pipeline_id = ${id} and polled_at = ${at}`.execute(owner.db)
        return rows.length > 0
      })
      for (const [branch, commit] of heads) {
        shown.add(commit)
        history.push(`refs/heads/${branch} was polled at ${commit}`)
      }
    }
    await send(giteaEvent('ping', { repository: repository.json }))
    await reconcile()

    let waiting: Array<{ commit: string; delivery: () => TestDelivery }> = []
    for (let count = 0; count < pushes; count += 1) {
      const branch = pick(branches)
      const before = heads.get(branch)
      const commit = await repository.commit(branch)
      heads.set(branch, commit)
      // Each has another id.
      const delivery = () =>
        giteaEvent('push', {
          ref: `refs/heads/${branch}`,
          before: before ?? noCommit,
          after: commit,
          repository: repository.json,
          head_commit: { id: commit, message: 'Change' },
        })
      const fate = random()
      if (fate > 0.25) waiting.push({ commit, delivery })
      if (fate > 0.7) waiting.push({ commit, delivery })
      if (random() < disorder) waiting = waiting.toSorted(() => random() - 0.5)
      const sent = waiting.splice(0, Math.floor(random() * 4))
      for (const one of sent) shown.add(one.commit)
      const polls = random() < 0.2 ? [reconcile(pick([0.5, 12]))] : []
      await Promise.all([...polls, ...sent.map((one) => send(one.delivery()))])
      if (random() < 0.03) {
        await server.close()
        server = await startApp(options, owner.database)
      }
    }
    await reconcile()
    for (const { commit, delivery } of waiting) {
      shown.add(commit)
      await send(delivery())
    }
    await reconcile()
    await reconcile()
    await server.close()

    const { rows } = await sql<{ commit: string }>`
      select commit from builds where pipeline_id = ${id}`.execute(owner.db)
    const built = rows.map(({ commit }) => commit)
    const wrong = new Set([
      ...[...shown].filter((commit) => !built.includes(commit)),
      ...built.filter((commit, index) => !shown.has(commit) || built.indexOf(commit) !== index),
    ])
    const branchesOf = (lines: string[]) => new Set(lines.map((line) => line.split(' ')[0]))
    const branchesOfWrong = branchesOf(history.filter((line) => [...wrong].some((one) => line.includes(one))))
    const told = history.filter((line) => branchesOfWrong.has(line.split(' ')[0]))
    expect({ wrong: [...wrong], told }).toEqual({ wrong: [], told: [] })
    expect(shown.size).toBeGreaterThan(pushes / 2)
  },
)
