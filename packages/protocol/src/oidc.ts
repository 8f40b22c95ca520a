export interface OidcTokenRequest {
  audience?: string
  /** Seconds. */
  lifetime?: number
  claims?: string[]
  aws_session_tags?: string[]
  subject_claim?: string
}

export interface OidcTokenResponse {
  token: string
}
