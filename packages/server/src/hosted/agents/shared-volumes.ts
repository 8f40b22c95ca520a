// The engine's cluster switches against the clusters' own: an update that could not be taken back, a cluster that was
// deleted, or an engine that lost everything leave them different.
import { sql } from 'kysely'
import type { Context } from '../../context.ts'

interface Wanted {
  id: string
  gitMirror: boolean
  containerCache: boolean
}

const off = { gitMirror: false, containerCache: false }

/**
 * An update tells the engine first and is written down a moment later, so what differs once may be about to agree: only
 * what differs twice in a row is put right.
 */
export function switchReconciler(): (ctx: Context) => Promise<void> {
  let suspects = new Set<string>()
  return async (ctx) => {
    const { hosted: driver } = ctx
    if (driver === null) return
    const held = new Map((await driver.listSwitches()).map((one) => [one.clusterId, one]))
    const { rows } = await sql<Wanted>`
      select id, hosted_git_mirror_enabled as "gitMirror", hosted_container_cache_enabled as "containerCache"
      from clusters where hosted and (hosted_git_mirror_enabled or hosted_container_cache_enabled)`.execute(
      ctx.db,
    )
    const wanted = new Map(rows.map((one) => [one.id, one]))
    const differing = [...new Set([...held.keys(), ...wanted.keys()])].filter((id) => {
      const [is, shouldBe] = [held.get(id) ?? off, wanted.get(id) ?? off]
      return is.gitMirror !== shouldBe.gitMirror || is.containerCache !== shouldBe.containerCache
    })
    for (const id of differing.filter((one) => suspects.has(one))) {
      const { gitMirror, containerCache } = wanted.get(id) ?? off
      await driver.setGitMirror(id, gitMirror)
      await driver.setContainerCache(id, containerCache)
    }
    suspects = new Set(differing)
  }
}
