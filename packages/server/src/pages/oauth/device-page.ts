// The page where a person enters the code of a program that runs on another device, sees what it asks for, and decides. Nothing is
// decided by opening a link: the person confirms the code first, because somebody else may have sent it.
import type { Scope } from '../../auth/scopes.ts'
import { ApiError } from '../../lib/errors.ts'
import { listOrganizations } from '../../resources/people/access-tokens/queries.ts'
import { html } from '../html.ts'
import type { MemberInput, Page, PageAnswer } from '../page.ts'
import { problemNote } from '../sign-in-forms.ts'
import { consentForm, nothingToGive } from './consent-form.ts'
import { decideDevice, findUndecided, readUserCode, showUserCode, type DeviceRow } from './devices.ts'
import { grantDays, grantOf, scopesToGive } from './grant.ts'

export const devicePath = '/-/device'

const showCodeForm: Page = {
  method: 'GET',
  url: devicePath,
  permission: 'token',
  scope: 'write_user',
  async handler(input) {
    return codeForm(input, input.query.get('user_code') ?? '', null)
  },
}

const decide: Page = {
  method: 'POST',
  url: devicePath,
  permission: 'token',
  scope: 'write_user',
  async handler(input) {
    const { ctx, caller, form } = input
    const typed = form.get('user_code') ?? ''
    try {
      const forgive = await ctx.signInLimits.guess(caller.user.id)
      const code = readUserCode(typed)
      const device = code === null ? undefined : await findUndecided(ctx.db, ctx.keys, code, ctx.now())
      if (code === null || device === undefined) throw new ApiError(422, wrongCode)
      await forgive()
      const choice = form.get('choice')
      if (choice === null) return await consent(input, device, code)
      if (choice !== 'allow') return await deny(input, device)
      return await allow(input, device)
    } catch (error) {
      if (!(error instanceof ApiError) || (error.status !== 422 && error.status !== 429)) throw error
      return { ...codeForm(input, typed, error.message), status: error.status }
    }
  },
}

const wrongCode =
  'No program waits with this code. It is used, older than ten minutes, or mistyped. Start the program again for a new one.'

const codeForm = ({ formField, caller }: MemberInput, typed: string, problem: string | null): PageAnswer => ({
  title: 'Connect a program',
  content: html`${problemNote(problem)}
    <p>Enter the code that the program shows. You are signed in as ${caller.user.email}.</p>
    <form method="post" action="${devicePath}">
      ${formField}
      <label for="user_code">Code</label>
      <input
        id="user_code"
        name="user_code"
        value="${typed.slice(0, 20)}"
        autocomplete="off"
        autocapitalize="characters"
        spellcheck="false"
        maxlength="20"
        required
        autofocus
      />
      <button class="primary">Continue</button>
    </form>
    <p class="note">
      Go on only if you have started the program yourself, just now. If somebody sent you this code or this
      link, they would get access as you.
    </p>`,
})

async function consent(input: MemberInput, device: DeviceRow, code: string): Promise<PageAnswer> {
  const { ctx, caller, formField } = input
  const scopes = giveable(input, device)
  if (scopes.length === 0) return nothingToGive(device.program, device.scopes)
  return consentForm({
    program: device.program,
    action: devicePath,
    note: html`Programs choose their own names: allow this only if your program shows the code
      <strong>${showUserCode(code)}</strong>. It asked from ${device.ip}.`,
    scopes,
    organizations: await listOrganizations(ctx.db, caller),
    given: [['user_code', code]],
    formField,
    user: caller.user,
    days: grantDays,
  })
}

const giveable = (input: MemberInput, { scopes }: DeviceRow): Scope[] => scopesToGive(input, scopes)

async function allow(input: MemberInput, device: DeviceRow): Promise<PageAnswer> {
  const { ctx, caller } = input
  if (giveable(input, device).length === 0) return nothingToGive(device.program, device.scopes)
  const tokenRequest = await grantOf(input, device.program, device.scopes)
  const isDecided = await decideDevice(ctx.db, device, { userId: caller.user.id, tokenRequest })
  if (!isDecided) throw new ApiError(422, wrongCode)
  return {
    title: `${device.program} is connected`,
    content: html`<p>It gets its token within seconds. Close this page and go back to the program.</p>
      <p class="note">
        It is listed among <a href="/-/me/programs">your connected programs</a>, where you can revoke it.
      </p>`,
  }
}

async function deny({ ctx, caller }: MemberInput, device: DeviceRow): Promise<PageAnswer> {
  await decideDevice(ctx.db, device, { userId: caller.user.id, tokenRequest: null })
  return {
    title: `${device.program} gets nothing`,
    content: html`<p>You denied it. Its code no longer works.</p>`,
  }
}

export const devicePages: readonly Page[] = [showCodeForm, decide]
