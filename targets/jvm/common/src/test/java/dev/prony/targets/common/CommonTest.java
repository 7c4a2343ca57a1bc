package dev.prony.targets.common;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.auth0.jwt.JWT;
import com.auth0.jwt.algorithms.Algorithm;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** The rules that all JVM targets share. */
class CommonTest {

    private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
    private static final Instant LATER = Instant.parse("2100-01-01T00:00:00Z");

    @Test
    void numbersArePlainDecimalsWithinTheirLimits() {
        assertEquals(1000, Numbers.count("1000"));
        assertEquals(20, Numbers.queries("20"));
        assertEquals(0, Numbers.layers("0"));
        assertEquals(7, Numbers.id("7"));
        assertEquals(Numbers.NO_ID, Numbers.id("9".repeat(40)));
        for (String text : new String[] {"0", "1001", "+1", "01", "1.0", "", "x", "٣", "99999999999", null}) {
            refused(400, () -> Numbers.count(text));
        }
        refused(400, () -> Numbers.queries("21"));
        refused(400, () -> Numbers.layers("4"));
        refused(400, () -> Numbers.id("-7"));
        refused(400, () -> Numbers.key("a b"));
        refused(400, () -> Numbers.key("a".repeat(65)));
    }

    @Test
    void recordsAreThoseOfTheContract() {
        assertEquals(24, Entry.list(3).size());
        assertEquals(new Entry(7, "user-000007", "user-000007@example.com", 67, false, 10.5,
                List.of("beta", "gamma", "alpha")), Entry.list(1).get(6));
    }

    @Test
    void onlyGoodTokensPass() {
        Tokens tokens = new Tokens("secret");
        Algorithm right = Algorithm.HMAC256("secret");
        var good = JWT.create().withSubject("user-7").withExpiresAt(LATER);
        assertEquals("user-7", tokens.subject("Bearer " + good.sign(right)));
        refused(401, () -> tokens.subject(null));
        refused(401, () -> tokens.subject(good.sign(right)));
        refused(401, () -> tokens.subject("Bearer a.b.c"));
        refused(401, () -> tokens.subject("Bearer " + good.sign(Algorithm.none())));
        refused(401, () -> tokens.subject("Bearer " + good.sign(Algorithm.HMAC512("secret"))));
        refused(401, () -> tokens.subject("Bearer " + good.sign(Algorithm.HMAC256("other"))));
        refused(401, () -> tokens.subject("Bearer " + JWT.create().withSubject("a").sign(right)));
        refused(401, () -> tokens.subject("Bearer "
                + JWT.create().withSubject("a").withExpiresAt(Instant.EPOCH).sign(right)));
        refused(401, () -> tokens.subject("Bearer "
                + JWT.create().withClaim("sub", 7).withExpiresAt(LATER).sign(right)));
    }

    @Test
    void aGoodTraceIsTakenOverAndAWrongOneReplaced() {
        String kept = TraceContext.answer("00-" + TRACE + "-00f067aa0ba902b7-00");
        assertTrue(kept.matches("00-" + TRACE + "-[0-9a-f]{16}-00"), kept);
        for (String header : new String[] {null, "", "ff-" + TRACE + "-00f067aa0ba902b7-01",
                "00-" + "0".repeat(32) + "-00f067aa0ba902b7-01", "00-" + TRACE + "-0000000000000000-01",
                "00-" + TRACE + "-00f067aa0ba902b7-01-x"}) {
            String drawn = TraceContext.answer(header);
            assertTrue(drawn.matches("00-[0-9a-f]{32}-[0-9a-f]{16}-01") && !drawn.contains(TRACE), drawn);
        }
    }

    @Test
    void aWrongSettingNamesItsVariable() {
        assertEquals(new Settings.Endpoint("::1", 0), Settings.of(Map.of("LISTEN", "[::1]:0")).listen());
        for (var wrong : Map.of("LISTEN", "nowhere", "EVENT_LOOP_THREADS", "x", "LOGGER", "yes").entrySet()) {
            var error = assertThrows(Settings.SettingException.class,
                    () -> Settings.of(Map.of(wrong.getKey(), wrong.getValue())));
            assertTrue(error.getMessage().startsWith(wrong.getKey()), error.getMessage());
        }
        assertThrows(Settings.SettingException.class,
                () -> Settings.of(Map.of("GRPC_HOST", "a", "GRPC_PORT", "1")));
    }

    private static void refused(int status, Executable call) {
        assertEquals(status, assertThrows(Refusal.class, call).status());
    }
}
