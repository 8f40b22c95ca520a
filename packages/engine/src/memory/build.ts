// A build held in memory: plans, applies events and answers the engine's needs without a database. It
// runs pipelines on a laptop. Events carry the time, and the caller supplies ids.

import { advance } from '../advance.ts'
import type { Outcome } from '../advance.ts'
import type { BuildEvent } from '../advance/events.ts'
import type { ConditionFacts } from '../conditions/facts.ts'
import { answer } from './answer.ts'
import { Store } from './store.ts'
import { newBuild } from '../new-build.ts'
import { plan } from '../plan.ts'
import type { PipelineDocument } from '../steps/types.ts'

export class MemoryBuild {
  readonly store: Store
  private readonly mint: () => string

  constructor(options: { scheduledAt: string; mint: () => string }) {
    this.mint = options.mint
    this.store = new Store(newBuild(options.mint(), options.scheduledAt))
  }

  /** Plans the document and gives the build its steps. */
  begin(
    document: PipelineDocument,
    facts: ConditionFacts,
    at: string,
  ): Outcome | { ok: false; message: string } {
    const planned = plan(document, facts, {
      mint: this.mint,
      at,
      scheduledAt: this.store.build.scheduledAt,
      jobsInBuild: 0,
      uploadsInBuild: 0,
      upload: null,
    })
    return planned.ok ? this.apply({ type: 'begin', plan: planned.plan, at }) : planned
  }

  /** A refused event leaves everything as it was. */
  apply(event: BuildEvent): Outcome {
    const steps = advance(this.store.build, event, { mint: this.mint })
    let turn = steps.next()
    while (!turn.done) turn = steps.next(answer(this.store, turn.value))
    if (turn.value.ok) this.store.write(turn.value.changes)
    return turn.value
  }
}
