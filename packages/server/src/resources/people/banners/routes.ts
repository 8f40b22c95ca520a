import { Type } from 'typebox'
import { noContent, ok } from '../../../http/answer.ts'
import { pageAnswer, readPage } from '../../../http/paging.ts'
import { route } from '../../../http/route.ts'
import { presentBanner } from './present.ts'
import * as banners from './queries.ts'
import { Banner, SetBanner } from './schema.ts'
import { deleteBanner, setBanner } from './set.ts'

const listBannersRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/banners',
  summary: 'List the message that all pages of the organization show; there is one at most',
  scope: 'read_organizations',
  permission: 'member',
  paging: 'pages',
  answers: { 200: Type.Array(Banner) },
  async handler({ ctx, org, url }) {
    const page = readPage(url)
    const found = await banners.findInOrg(ctx.db, org.id)
    const rows = found === undefined || page.offset > 0 ? [] : [found]
    return pageAnswer(page, rows, (row) => presentBanner(ctx.config.url, org.slug, row))
  },
})

const setBannerRoute = route({
  method: 'PUT',
  url: '/v2/organizations/:org/banners',
  summary: 'Set the message that all pages of the organization show',
  scope: 'write_organizations',
  permission: 'admin',
  body: SetBanner,
  answers: { 200: Banner },
  async handler({ ctx, org, caller, body }) {
    return ok(presentBanner(ctx.config.url, org.slug, await setBanner({ ctx, org, caller }, body)))
  },
})

const deleteBannerRoute = route({
  method: 'DELETE',
  url: '/v2/organizations/:org/banners',
  summary: 'Delete the message that all pages of the organization show',
  scope: 'write_organizations',
  permission: 'admin',
  answers: { 204: null },
  async handler({ ctx, org, caller }) {
    await deleteBanner({ ctx, org, caller })
    return noContent()
  },
})

export const bannerRoutes = [listBannersRoute, setBannerRoute, deleteBannerRoute]
