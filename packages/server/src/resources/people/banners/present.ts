import type { Static } from 'typebox'
import { graphqlId } from '../../../lib/ids.ts'
import { presentUserOrNull } from '../user/present.ts'
import type { BannerRow } from './queries.ts'
import type { Banner } from './schema.ts'

export const presentBanner = (url: string, orgSlug: string, banner: BannerRow): Static<typeof Banner> => ({
  id: banner.id,
  graphql_id: graphqlId('OrganizationBanner', banner.id),
  url: `${url}/v2/organizations/${orgSlug}/banners`,
  message: banner.message,
  created_at: banner.created_at,
  updated_at: banner.updated_at,
  created_by: presentUserOrNull(url, banner.created_by),
})
