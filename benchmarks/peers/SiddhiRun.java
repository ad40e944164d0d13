import io.siddhi.core.SiddhiAppRuntime;
import io.siddhi.core.SiddhiManager;
import io.siddhi.core.event.Event;
import io.siddhi.core.stream.input.InputHandler;
import io.siddhi.core.stream.output.StreamCallback;
import java.io.BufferedReader;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Siddhi on events in memory: one run to warm up, then some of which the best counts. Prints CPU seconds and a count. */
public class SiddhiRun {
    static long count;

    public static void main(String[] arguments) throws Exception {
        String app = Files.readString(Path.of(arguments[0]));
        int runs = Integer.parseInt(arguments[2]);
        long end = Long.parseLong(arguments[3]);
        List<Object[]> events = new ArrayList<>();
        List<String> types = new ArrayList<>();
        try (BufferedReader lines = Files.newBufferedReader(Path.of(arguments[1]))) {
            lines.readLine();
            for (String line; (line = lines.readLine()) != null; ) {
                String[] parts = line.split(",");
                types.add(parts[0].replace("\"", "").intern());
                events.add(new Object[] {Long.valueOf(parts[2]), Long.valueOf(parts[1])});
            }
        }
        double best = Double.MAX_VALUE;
        for (int run = 0; run <= runs; run++) {
            double taken = once(app, types, events, end);
            best = run == 0 ? best : Math.min(best, taken);
        }
        System.out.println("{\"cpu\": " + best + ", \"count\": " + count + "}");
        System.exit(0);
    }

    static double once(String app, List<String> types, List<Object[]> events, long end) throws Exception {
        SiddhiManager manager = new SiddhiManager();
        SiddhiAppRuntime runtime = manager.createSiddhiAppRuntime(app);
        count = 0;
        runtime.addCallback("Found", new StreamCallback() {
            @Override
            public void receive(Event[] found) {
                count += found.length;
            }
        });
        runtime.start();
        InputHandler a = runtime.getInputHandler("A"), b = runtime.getInputHandler("B"), c = runtime.getInputHandler("C");
        var bean = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        long began = bean.getProcessCpuTime();
        for (int row = 0; row < events.size(); row++) {
            Object[] event = events.get(row);
            String type = types.get(row);
            (type == "A" ? a : type == "B" ? b : c).send((Long) event[1], event);
        }
        c.send(end, new Object[] {-1L, end}); // time goes on
        double taken = (bean.getProcessCpuTime() - began) / 1e9;
        manager.shutdown();
        return taken;
    }
}
