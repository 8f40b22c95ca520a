import { setTimeout as delay } from 'node:timers/promises'
import { causeStatus, unlessGone, type Engine } from './engine.ts'

const mostTries = 600

/** By any of its names; it is gone when this returns. A removal that another request began is waited for. */
export async function removeContainer(engine: Engine, name: string): Promise<void> {
  for (let tried = 1; ; tried++) {
    try {
      await engine.ask((docker) => docker.getContainer(name).remove({ force: true, v: true }))
      return
    } catch (error) {
      if (causeStatus(error) !== 409 || tried === mostTries) return unlessGone(error)
      await delay(50)
    }
  }
}
