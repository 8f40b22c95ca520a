// What a job may ask about the steps of its build, and change in them; and the end of the build itself.

export interface StepExportRequest {
  /** The whole step when absent. */
  attribute?: string
  build_id?: string
  format?: string
}

export interface StepExportResponse {
  output: string
}

export interface StepUpdateRequest {
  idempotency_uuid: string
  build_id?: string
  attribute: string
  value?: string
  append?: boolean
}

export interface StepCancelRequest {
  build_id: string
  force: boolean
  /** Seconds. */
  force_grace_period: number
}

export interface StepCancelResponse {
  uuid: string
}

export interface BuildCancelResponse {
  uuid: string
}
