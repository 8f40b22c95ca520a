import { setTimeout as delay } from 'node:timers/promises'
import { ignoreNotFound } from '../engine-request.ts'
import { causeStatus, type Engine } from './engine.ts'

const mostTries = 600

/** By id or name. Returns when the container is gone, also if another request has begun to delete it. */
export async function deleteContainer(engine: Engine, name: string): Promise<void> {
  for (let tried = 1; ; tried++) {
    try {
      await engine.ask((docker) => docker.getContainer(name).remove({ force: true, v: true }))
      return
    } catch (error) {
      if (causeStatus(error) !== 409 || tried === mostTries) return ignoreNotFound(error)
      await delay(50)
    }
  }
}
