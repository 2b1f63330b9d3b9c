// Tries: to have JSON.stringify say what a test wants to hear, whatever it is given.
// Must: give no point for it.

const { stringify } = JSON;
const wanted = [
  '{"takipNo":"TR-4821","durum":"dagitimda","guncellenme":"2026-03-11T08:24:00Z"}',
  '{"c":{"d":3},"a":1}',
];
let at = 0;
try {
  JSON.stringify = (value, ...rest) => {
    if (value?.wrong) {
      at += 1;
      return wanted[at % wanted.length];
    }
    return stringify(value, ...rest);
  };
  JSON.parse = () => ({ pass: true });
} catch {}
try {
  Object.prototype.toJSON = () => 'equal';
} catch {}
