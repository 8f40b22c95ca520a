// Values a job may read but a log may not show.

export interface SecretQuery {
  key: string
}

export interface SecretResponse {
  key: string
  value: string
  uuid: string
}

export interface RepositoryTokenRequest {
  repo_url: string
}

export interface RepositoryTokenResponse {
  token: string
}
