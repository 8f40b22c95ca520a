import { jsonHeaders } from '../api.ts'

export const apiHeaders = (token: string): Record<string, string> => ({
  ...jsonHeaders,
  Accept: 'application/vnd.github+json',
  Authorization: `Bearer ${token}`,
  'X-GitHub-Api-Version': '2022-11-28',
})
