// The tokens of the gateway lessons: whom a request is from, and a signature that proves it.
import { createHmac, timingSafeEqual } from 'node:crypto';

/** The key with which tokens are signed. */
const TOKEN_SECRET = 'course-secret';

/**
 * Signs a token for a subject: the subject, a dot, and its HMAC-SHA-256 in lower-case hex. A request
 * carries it in `authorization`, after `Bearer `.
 */
export function tokenOf(subject: string): string {
  return `${subject}.${createHmac('sha256', TOKEN_SECRET).update(subject).digest('hex')}`;
}

export const GOOD_TOKEN = tokenOf('s1');

/** It has a subject, and a signature that nobody has made. */
export const BAD_TOKEN = 's1.bad';

/** Whom the field `authorization` claims to be from. Nobody has looked at the signature yet. */
export function claimedSubject(authorization = ''): string | undefined {
  return /^Bearer (.+)\.[^.]*$/.exec(authorization)?.[1];
}

/** Whether the field `authorization` carries a token whose signature is that of its subject. */
export function hasValidToken(authorization = ''): boolean {
  const subject = claimedSubject(authorization);
  if (subject === undefined) return false;
  const wanted = Buffer.from(`Bearer ${tokenOf(subject)}`);
  const given = Buffer.from(authorization);
  // In a time that doesn't tell how much of the signature is right.
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
