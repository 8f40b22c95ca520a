// Requests about the steps of a job's build, and to cancel the build.
import { Type, type Static } from 'typebox'
import { maybe } from './maybe.ts'

const Text = maybe(Type.String({ maxLength: 1024 }))

/** The whole step without an attribute. */
export const StepExportRequest = Type.Object({ attribute: Text, build_id: Text, format: Text })
export type StepExportRequest = Static<typeof StepExportRequest>

export const StepExportResponse = Type.Object({ output: Type.String() })
export type StepExportResponse = Static<typeof StepExportResponse>

export const StepUpdateRequest = Type.Object({
  idempotency_uuid: Type.String({ format: 'uuid', description: 'must be a UUID' }),
  build_id: Text,
  attribute: Type.String({ maxLength: 100 }),
  value: maybe(Type.String()),
  append: maybe(Type.Boolean()),
})
export type StepUpdateRequest = Static<typeof StepUpdateRequest>

export const StepCancelRequest = Type.Object({
  build_id: Text,
  force: maybe(Type.Boolean()),
  /** Seconds. */
  force_grace_period: maybe(Type.Integer({ minimum: 0, maximum: 86_400 })),
})
export type StepCancelRequest = Static<typeof StepCancelRequest>

export const StepCancelResponse = Type.Object({ uuid: Type.String() })
export type StepCancelResponse = Static<typeof StepCancelResponse>

export const BuildCancelResponse = Type.Object({ uuid: Type.String() })
export type BuildCancelResponse = Static<typeof BuildCancelResponse>
